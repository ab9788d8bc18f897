#include "experiments/sawtooth/measure/decode_call.hpp"

#include <string>

#include "experiments/sawtooth/measure/checked_call.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/attention/variant_list.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::AttentionDecode;
using kernels::KernelVariant;

/// What the keys say of the walk, which these kernels have one of.
void require_its_schedule(const Point& point) {
  const Keys& keys = point.keys;
  const Order& order = point.request.schedule.order;
  const auto require = [](bool fits, const std::string& message) {
    if (!fits) throw UsageError(message);
  };
  require(keys.kv_split.shares, "kv-split: the decode kernels walk equal shares; allowed: auto");
  require(keys.q_lengths.empty(),
          "q-lengths: the decode kernels take as many queries of each sequence; allowed: seq-q");
  require(keys.sequence_order == SequenceOrderId{},
          "sequence-order: the decode kernels walk sequences as numbered; allowed: given");
  require(keys.prefix == 0 || keys.page_rows > 0,
          "prefix: the decode kernels share keys by pages; give page-rows too");
  require(keys.scan == scan_id<LinearScan>,
          "scan: the decode kernels scan forwards; allowed: linear");
  require(keys.order_file.empty() && order.section == 1 && order.q_order == QOrderId{} &&
              order.head_order == HeadOrder::batch_major,
          "section, q-order, head-order, order-file: the decode kernels walk tiles of Q head by "
          "head; leave them out");
}

}  // namespace

bool is_decode(const Point& point) {
  return point.keys.pack_gqa && point.keys.pass == Pass::forward;
}

const KernelVariant& decode_variant(const AttentionDecode& call) {
  const Problem& problem = call.problem;
  const int64_t rows = kernels::rows_wanted(call);
  const KernelVariant* taken = nullptr;
  // The first that holds the rows of a tile, else the last, as the call itself takes it.
  for (const KernelVariant& variant :
       call.prefix.shared() ? kernels::cascade_variants() : kernels::decode_variants()) {
    if (variant.family != call.family || variant.head_dim != problem.head_dim ||
        variant.dtype != problem.dtype)
      continue;
    if (taken == nullptr || taken->tiling.q_rows < rows) taken = &variant;
  }
  if (taken == nullptr)
    throw UsageError(
        "kernel: this build has no decode kernel " + std::string(call.family) +
        " of this head-dim and dtype; allowed: mma, mma-tma; 64, 128, 256; bf16, fp16");
  return *taken;
}

AttentionDecode decode_call(const Point& point) {
  const sim::Request& request = point.request;
  require_its_schedule(point);
  const Hints hints = point.keys.hints.value_or(Hints{});
  if (hints.q != sim::Priority::normal || hints.k != hints.v)
    throw UsageError("hints: the decode kernels have one of K and V together");
  AttentionDecode call;
  call.problem = request.problem;
  call.problem.heads *= request.tiling.rows_a_position;
  call.problem.seq_q /= request.tiling.rows_a_position;
  call.family = point.keys.kernel.empty() ? std::string_view(kernels::families::mma)
                                          : std::string_view(point.keys.kernel);
  if (request.cascade) call.prefix = request.sequences.prefix;
  const KernelVariant& variant = decode_variant(call);
  call.family = variant.family;
  const Tiling& tiling = variant.tiling;
  if (tiling.q_rows != request.tiling.q_rows || tiling.kv_rows != request.tiling.kv_rows)
    throw UsageError("tile-q, tile-kv: allowed for these rows: " + std::to_string(tiling.q_rows) +
                     " and " + std::to_string(tiling.kv_rows));
  if (point.keys.ctas_per_sm != variant.ctas_per_sm)
    throw UsageError("ctas-per-sm: allowed for this decode kernel: " +
                     std::to_string(variant.ctas_per_sm));
  call.workers = request.schedule.workers;
  call.drawn = {};
  call.kv_eviction = eviction(hints.k);
  const Pages& pages = request.sequences.pages;
  call.pages = {.table = nullptr,
                .table_stride = pages.stride,
                .page_rows = pages.rows,
                .page_count = pages.count};
  alignas(16) static char place_holder[16];
  AttentionDecode trial = call;
  trial.q = trial.k = trial.v = trial.o = place_holder;
  if (pages.paged()) trial.pages.table = reinterpret_cast<const int32_t*>(place_holder);
  require_taken(kernels::check(trial));
  return call;
}

}  // namespace sawtooth::experiments
