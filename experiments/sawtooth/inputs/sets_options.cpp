#include "experiments/sawtooth/inputs/sets_options.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/inputs/hash_matrix_file.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

constexpr auto sets_keys = std::to_array<std::string_view>(
    {"l2-ways", "l2-line-bytes", "l2-hash", "l2-hash-matrix", "l2-policy", "l2-set-aside"});
// No GPU's associativity is published; 16 is what the profiles assume too.
constexpr int64_t assumed_ways = 16;

// Messages of the simulator begin with "KEY: "; the place of that key goes before them.
void check_geometry(const KeyFailure& fail, const sim::Request& request) {
  try {
    sim::set_geometry(request.l2_bytes, request.sets);
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    const size_t colon = message.find(": ");
    fail(message.substr(0, colon), message.substr(colon + 2));
  }
}

bool keeps_lines_last(const sim::SetsParameters& sets) {
  return std::count(sets.priorities.begin(), sets.priorities.end(), sim::Priority::evict_last) > 0;
}

}  // namespace

bool is_sets_key(std::string_view key) {
  return std::find(sets_keys.begin(), sets_keys.end(), key) != sets_keys.end();
}

void resolve_sets(const KeyFailure& fail, const sim::Gpu& gpu, Keys& keys, sim::Request& request) {
  const std::string_view l2 = keys.l2->name;
  if ((l2 == "sets" || l2 == "opt") && request.timing == sim::Timing::timed) {
    fail("l2",
         std::string(l2) + " counts in lockstep only; allowed with timing = timed: lru, halves");
  }
  if (l2 != "sets") {
    keys.l2_ways = keys.l2_line_bytes = keys.l2_set_aside = std::nullopt;
    keys.l2_hash.reset();
    keys.l2_policy.reset();
    keys.l2_hash_matrix.clear();
    return;
  }
  if (!keys.l2_ways) keys.l2_ways = gpu.l2_ways.value_or(assumed_ways);
  if (!keys.l2_line_bytes) keys.l2_line_bytes = gpu.l2_line_bytes.value_or(line_bytes);
  sim::SetsParameters& sets = request.sets;
  sets.ways = *keys.l2_ways;
  sets.line_bytes = *keys.l2_line_bytes;
  sets.hash = *keys.l2_hash;
  sets.policy = *keys.l2_policy;
  sets.seed = keys.seed;
  const Hints hints = keys.hints.value_or(Hints{});
  sets.priorities[static_cast<size_t>(sim::Tensor::q)] = hints.q;
  sets.priorities[static_cast<size_t>(sim::Tensor::k)] = hints.k;
  sets.priorities[static_cast<size_t>(sim::Tensor::v)] = hints.v;
  if (!keys.l2_hash_matrix.empty()) {
    if (sets.hash != sim::HashKind::exclusive_or) {
      fail("l2-hash-matrix", "has no effect with l2-hash = " +
                                 find_option("l2-hash")->field.print(keys) + "; allowed: xor");
    }
    sets.matrix = read_hash_matrix(keys.l2_hash_matrix);
  }
  if (keys.l2_set_aside) {
    if (!keeps_lines_last(sets)) {
      fail("l2-set-aside", "has no effect without a tensor that hints keep to the last");
    }
    sets.set_aside_bytes = *keys.l2_set_aside;
  }
  if (sets.policy == sim::SetPolicy::opt && keys.hints) {
    fail("hints", "have no effect with l2-policy = opt; leave one of them out");
  }
  check_geometry(fail, request);
}

}  // namespace sawtooth::experiments
