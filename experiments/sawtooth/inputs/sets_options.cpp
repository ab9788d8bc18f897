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

std::string text(const Settings& settings, std::string_view key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string() : found->second.values.front();
}

[[noreturn]] void fail(const Settings& settings, const std::string& key, const std::string& what) {
  const auto found = settings.find(key);
  const bool written = found != settings.end() && found->second.origin.file != "default";
  throw UsageError((written ? place_of(key, found->second.origin) : key) + ": " + what);
}

void set_if_missing(Settings& settings, const std::string& key, int64_t value) {
  settings.try_emplace(key, Assignment{{std::to_string(value)}, {"default", 0}});
}

// hints are pairs of a tensor's letter and first or last: q-first-k-last-v-last.
sim::Priority priority_of(const std::string& hints, std::string_view tensor) {
  const auto at = hints.find(std::string(tensor) + "-");
  if (at == std::string::npos) return sim::Priority::normal;
  return hints.compare(at + tensor.size() + 1, 5, "first") == 0 ? sim::Priority::evict_first
                                                                : sim::Priority::evict_last;
}

// Messages of the simulator begin with "KEY: "; the place of that key goes before them.
void check_geometry(const Settings& settings, const sim::Request& request) {
  try {
    sim::set_geometry(request.l2_bytes, request.sets);
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    const size_t colon = message.find(": ");
    fail(settings, message.substr(0, colon), message.substr(colon + 2));
  }
}

bool keeps_lines_last(const sim::SetsParameters& sets) {
  return std::count(sets.priorities.begin(), sets.priorities.end(), sim::Priority::evict_last) > 0;
}

}  // namespace

bool is_sets_key(std::string_view key) {
  return std::find(sets_keys.begin(), sets_keys.end(), key) != sets_keys.end();
}

void resolve_sets(Settings& settings, const sim::GpuProfile& gpu, sim::Request& request) {
  const std::string l2 = text(settings, "l2");
  if ((l2 == "sets" || l2 == "opt") && request.timing == sim::Timing::timed) {
    fail(settings, "l2", l2 + " counts in lockstep only; allowed with timing = timed: lru, halves");
  }
  if (l2 != "sets") {
    std::erase_if(settings, [](const auto& setting) { return is_sets_key(setting.first); });
    return;
  }
  set_if_missing(settings, "l2-ways", gpu.l2_ways.value_or(assumed_ways));
  set_if_missing(settings, "l2-line-bytes", gpu.l2_line_bytes.value_or(line_bytes));
  sim::SetsParameters& sets = request.sets;
  sets.ways = std::stoll(text(settings, "l2-ways"));
  sets.line_bytes = std::stoll(text(settings, "l2-line-bytes"));
  for (const HashName& entry : l2_hashes) {
    if (entry.name == text(settings, "l2-hash")) sets.hash = entry.hash;
  }
  for (const PolicyName& entry : l2_policies) {
    if (entry.name == text(settings, "l2-policy")) sets.policy = entry.policy;
  }
  sets.seed = request.schedule.seed;
  const std::string hints = text(settings, "hints");
  for (size_t t = 0; t < sim::tensor_names.size(); ++t) {
    if (sim::tensor_names[t].size() > 1) continue;  // log-sum-exp and partial results have none
    sets.priorities[t] = priority_of(hints, sim::tensor_names[t]);
  }
  if (settings.contains("l2-hash-matrix")) {
    if (sets.hash != sim::HashKind::exclusive_or) {
      fail(settings, "l2-hash-matrix",
           "has no effect with l2-hash = " + text(settings, "l2-hash") + "; allowed: xor");
    }
    sets.matrix = read_hash_matrix(text(settings, "l2-hash-matrix"));
  }
  if (settings.contains("l2-set-aside")) {
    if (!keeps_lines_last(sets)) {
      fail(settings, "l2-set-aside", "has no effect without a tensor that hints keep to the last");
    }
    sets.set_aside_bytes = std::stoll(text(settings, "l2-set-aside"));
  }
  if (sets.policy == sim::SetPolicy::opt && !hints.empty()) {
    fail(settings, "hints", "have no effect with l2-policy = opt; leave one of them out");
  }
  check_geometry(settings, request);
}

}  // namespace sawtooth::experiments
