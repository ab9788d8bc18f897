#include "sim/schedule/limits.hpp"

#include <stdexcept>

#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {
namespace {

std::optional<Fault> shares_fault(const Request& request) {
  const Schedule& schedule = request.schedule;
  if (!request.shares.cuts()) return std::nullopt;
  if (request.problem.pass == Pass::backward)
    return Fault{"kv-split", "auto shares K/V tiles; allowed with pass = backward: numbers"};
  if (schedule.loop == Loop::kv_outer)
    return Fault{"kv-split", "has no effect with loop = kv-outer"};
  if (schedule.launch != launch_id<StaticLaunch>)
    return Fault{"launch", "kv-split = auto gives each worker its share; allowed: static"};
  if (schedule.prefetch > 0)
    return Fault{"prefetch", "is not modelled with kv-split = auto; allowed: 0"};
  return std::nullopt;
}

std::optional<Fault> prefix_fault(const Request& request) {
  const Prefix& prefix = request.sequences.prefix;
  if (!prefix.shared()) return std::nullopt;
  if (request.problem.pass == Pass::backward)
    return Fault{"prefix", "is not modelled with pass = backward; allowed: 0"};
  if (prefix.keys % request.tiling.kv_rows != 0)
    return Fault{"prefix", "is no whole number of K/V tiles; allowed: multiples of tile-kv"};
  if (request.schedule.prefetch > 0)
    return Fault{"prefetch", "is not modelled with prefix; allowed: 0"};
  for (int64_t sequence = 0; sequence < request.problem.batch; ++sequence)
    if (request.sequences.of(request.problem, sequence).seq_kv < prefix.keys)
      return Fault{"prefix", "is longer than a sequence; allowed: up to the shortest one"};
  return std::nullopt;
}

std::optional<Fault> cascade_fault(const Request& request) {
  if (!request.cascade) return std::nullopt;
  const Problem& problem = request.problem;
  const Schedule& schedule = request.schedule;
  const Prefix& prefix = request.sequences.prefix;
  if (!prefix.shared()) return Fault{"cascade", "has no effect without prefix"};
  if (schedule.loop == Loop::kv_outer)
    return Fault{"cascade", "has no items under loop = kv-outer; allowed: kv-inner"};
  if (schedule.kv_split > 1)
    return Fault{"kv-split", "is not modelled with cascade; allowed: 1, auto"};
  if (schedule.launch == launch_id<BalancedLaunch>)
    return Fault{"launch",
                 "balanced cuts items of one length; allowed with cascade: grid, static, dynamic"};
  if (schedule.order.list != nullptr)
    return Fault{"order-file", "has no items of prefixes; leave it or cascade out"};
  if (schedule.scan == scan_id<AttachScan>)
    return Fault{"scan", "attach is not modelled with cascade; allowed: the others"};
  if (problem.mask.kind == MaskKind::window)
    return Fault{"mask",
                 "a window may hide a prefix from some rows; allowed with cascade: none, causal"};
  if (q_tiles(problem, request.tiling) != 1)
    return Fault{"cascade",
                 "the rows of a head fill more than one Q tile; allowed: up to tile-q rows"};
  for (int64_t sequence = 0; sequence < problem.batch; ++sequence) {
    const Problem own = request.sequences.of(problem, sequence);
    const int64_t positions = q_positions(own, request.tiling);
    if (positions == 0)
      return Fault{"cascade", "a sequence has no queries; allowed: 1 or more in each"};
    if (problem.mask.kind == MaskKind::causal && own.seq_kv - positions + 1 < prefix.keys)
      return Fault{"cascade",
                   "a causal row does not see the whole prefix; allowed: as many keys of their own "
                   "as queries but one"};
  }
  return std::nullopt;
}

std::optional<Fault> pages_fault(const Request& request) {
  const int64_t page_rows = request.sequences.pages.rows;
  const int64_t tile_rows = request.tiling.kv_rows;
  if (!request.sequences.pages.paged()) return std::nullopt;
  if (request.problem.pass == Pass::backward)
    return Fault{"page-rows", "pass = backward has no pages; leave it out"};
  if (page_rows % tile_rows != 0 && tile_rows % page_rows != 0)
    return Fault{"page-rows", "allowed: a divisor or a multiple of tile-kv"};
  for (const int64_t row : {request.problem.k_row_bytes(), request.problem.v_row_bytes()})
    if (page_rows * row % line_bytes != 0)
      return Fault{
          "page-rows",
          "a page shares a line with the next one; allowed: page-rows x head-dim x element "
          "bytes a multiple of 128"};
  if (request.sequences.prefix.keys % page_rows != 0)
    return Fault{"prefix", "is no whole number of pages; allowed: multiples of page-rows"};
  if (request.schedule.prefetch > 0)
    return Fault{"prefetch", "is not modelled with pages; allowed: 0"};
  return std::nullopt;
}

}  // namespace

void require_limits(const Request& request) {
  auto fault = backward_fault(request);
  if (!fault) fault = listed_fault(request);
  if (!fault) fault = timed_fault(request);
  if (!fault) fault = sequences_fault(request);
  if (!fault) fault = serving_fault(request);
  if (fault) throw std::invalid_argument(std::string(fault->key).append(": ").append(fault->what));
}

void require_forward(const Request& request, const std::string& model) {
  if (request.problem.pass == Pass::forward) return;
  throw std::invalid_argument(
      "pass: " + model +
      " does not model backward; allowed with it: l2 = lru, sets or halves in lockstep");
}

std::optional<Fault> serving_fault(const Request& request) {
  auto fault = shares_fault(request);
  if (!fault) fault = prefix_fault(request);
  if (!fault) fault = cascade_fault(request);
  if (!fault) fault = pages_fault(request);
  return fault;
}

}  // namespace sawtooth::sim
