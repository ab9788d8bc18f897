// The L2 model `sets`: hashed sets of some ways with a policy each, and hints as priorities.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {

/// L2 eviction priorities of the tensors that kernels load.
struct Hints {
  sim::Priority q = sim::Priority::normal;
  sim::Priority k = sim::Priority::normal;
  sim::Priority v = sim::Priority::normal;
  friend bool operator==(const Hints&, const Hints&) = default;
};

template <>
inline const ValueNames<Hints> names_of<Hints>{
    {"q-first", {.q = sim::Priority::evict_first}},
    {"k-last-v-last", {.k = sim::Priority::evict_last, .v = sim::Priority::evict_last}},
    {"q-first-k-last-v-last",
     {sim::Priority::evict_first, sim::Priority::evict_last, sim::Priority::evict_last}},
    {"k-first-v-first", {.k = sim::Priority::evict_first, .v = sim::Priority::evict_first}}};
template <>
inline const auto names_of<sim::HashKind> = names_from<sim::HashKind>(l2_hashes, &HashName::hash);
template <>
inline const auto names_of<sim::SetPolicy> = names_from<sim::SetPolicy>(l2_policies,
                                                                        &PolicyName::policy);

/// One row a line, the lowest bit of the set number first: a mask of line-number bits, decimal or
/// hexadecimal with 0x, whose parity is that bit. '#' begins a comment. Throws UsageError with file
/// and line.
inline std::vector<uint64_t> read_hash_matrix(const std::string& path) {
  constexpr size_t most_rows = 31;  // a set number has fewer than 32 bits
  std::vector<uint64_t> rows;
  for_each_line(path, [&](const std::string& text, int line) {
    const bool hexadecimal = text.starts_with("0x");
    const auto row = number_of<uint64_t>(std::string_view(text).substr(hexadecimal ? 2 : 0),
                                         hexadecimal ? 16 : 10);
    if (!row || *row == 0)
      fail_at(path, line,
              "'" + text +
                  "' is not allowed; allowed: a mask of line-number bits such as 0x8421, not 0");
    if (rows.size() == most_rows)
      fail_at(
          path, line,
          "more than " + std::to_string(most_rows) + " rows; allowed: log2 of the number of sets");
    rows.push_back(*row);
  });
  if (rows.empty()) throw UsageError("l2-hash-matrix: " + path + ": has no rows");
  return rows;
}

struct SetsKeys {
  std::optional<Hints> hints;  // of kernels too
  std::optional<int64_t> l2_ways, l2_line_bytes, l2_set_aside;
  std::optional<sim::HashKind> l2_hash;
  std::optional<sim::SetPolicy> l2_policy;
  std::string l2_hash_matrix;

  template <class Keys>
  static OptionBlocks options() {
    using enum OptionGroup;
    using enum OptionKind;
    return {
        {"ring-mover",
         {{"hints", where, choice, field_of<Keys, &Keys::hints>(), sweep_commands, "",
           "L2 eviction priority of tensors that kernels load"}}},
        {"launches",
         {{"l2-ways", model, count, field_of<Keys, &Keys::l2_ways>(), sweep_commands, "",
           "l2 = sets: lines of a set (default: the gpu's, or 16)", 1, most_ways},
          {"l2-line-bytes", model, bytes, field_of<Keys, &Keys::l2_line_bytes>(), sweep_commands,
           "",
           "l2 = sets: 32, 64 or 128 (default: the gpu's, or 128); sets = l2-bytes / (ways x "
           "line)",
           1, line_bytes},
          {"l2-hash", model, choice, field_of<Keys, &Keys::l2_hash>(), sweep_commands, "balanced",
           "l2 = sets: from line to set"},
          {"l2-hash-matrix", model, path, field_of<Keys, &Keys::l2_hash_matrix>(), sweep_commands,
           "",
           "with l2-hash = xor: rows of a GF(2) matrix, a mask of line-number bits a line, the "
           "lowest set bit first (default: the line number folded)"},
          {"l2-policy", model, choice, field_of<Keys, &Keys::l2_policy>(), sweep_commands, "lru",
           "l2 = sets: which line of a full set leaves"},
          {"l2-set-aside", model, bytes, field_of<Keys, &Keys::l2_set_aside>(), sweep_commands, "",
           "l2 = sets: the most that tensors with hints = ...-last hold (default and limit: "
           "3/4 of l2-bytes)",
           1, int64_t{1} << 50}}}};
  }
  /// Those of the model alone.
  static constexpr auto columns = std::to_array<ResultColumn>({
      {"l2_ways", ColumnKind::parameter},
      {"l2_line_bytes", ColumnKind::parameter},
      {"l2_hash", ColumnKind::parameter},
      {"l2_hash_matrix", ColumnKind::parameter, "", true},
      {"l2_policy", ColumnKind::parameter},
      {"l2_set_aside", ColumnKind::parameter},
  });

  template <class Point>
  static void resolve_model(const Layers& layers, Point& point) {
    resolve([&](const std::string& key, const std::string& what) { layers.fail(key, what); },
            point.gpu, point.keys, point.request);
    if (point.request.sets.matrix.empty()) return;
    ContentHash content;
    for (const uint64_t row : point.request.sets.matrix) content.add_line(std::to_string(row));
    point.contents["l2-hash-matrix"] = content.text(content_digits);
  }

  /// With l2 = sets, completes `keys` from the GPU's profile (16 ways and 128-byte lines where it
  /// says nothing), fills request.sets and checks it against request.l2_bytes. With another model,
  /// removes the keys of `sets`. Calls `fail`, which does not return, with key and what is allowed.
  template <class Failure, class Keys>
  static void resolve(const Failure& fail, const sim::Gpu& gpu, Keys& keys, sim::Request& request) {
    constexpr int64_t usual_ways = 16;  // no GPU's are published; the profiles assume them too
    const std::string l2(keys.l2->name);
    if ((l2 == "sets" || l2 == "opt") && request.timing == sim::Timing::timed)
      fail("l2", l2 + " counts in lockstep only; allowed with timing = timed: lru, halves");
    if (l2 != "sets") {
      const auto hints = keys.hints;
      static_cast<SetsKeys&>(keys) = {};
      keys.hints = hints;
      return;
    }
    if (!keys.l2_ways) keys.l2_ways = gpu.l2_ways.value_or(usual_ways);
    if (!keys.l2_line_bytes) keys.l2_line_bytes = gpu.l2_line_bytes.value_or(line_bytes);
    sim::SetsParameters& sets = request.sets;
    sets.ways = *keys.l2_ways;
    sets.line_bytes = *keys.l2_line_bytes;
    sets.hash = *keys.l2_hash;
    sets.policy = *keys.l2_policy;
    sets.seed = keys.seed;
    sets.set_aside_eighths = gpu.l2_set_aside_eighths.value_or(sim::usual_set_aside_eighths);
    const Hints hints = keys.hints.value_or(Hints{});
    sets.priorities[static_cast<size_t>(sim::Tensor::q)] = hints.q;
    sets.priorities[static_cast<size_t>(sim::Tensor::k)] = hints.k;
    sets.priorities[static_cast<size_t>(sim::Tensor::v)] = hints.v;
    if (!keys.l2_hash_matrix.empty()) {
      if (sets.hash != sim::HashKind::exclusive_or)
        fail("l2-hash-matrix",
             "has no effect with l2-hash = " + value_text(sets.hash) + "; allowed: xor");
      sets.matrix = read_hash_matrix(keys.l2_hash_matrix);
    }
    if (keys.l2_set_aside) {
      if (std::ranges::count(sets.priorities, sim::Priority::evict_last) == 0)
        fail("l2-set-aside", "has no effect without a tensor that hints keep to the last");
      sets.set_aside_bytes = *keys.l2_set_aside;
    }
    if (sets.policy == sim::SetPolicy::opt && keys.hints)
      fail("hints", "have no effect with l2-policy = opt; leave one of them out");
    try {
      sim::set_geometry(request.l2_bytes, request.sets);
    } catch (const std::invalid_argument& error) {  // "KEY: what": the place of the key goes first
      const std::string message = error.what();
      const size_t colon = message.find(": ");
      fail(message.substr(0, colon), message.substr(colon + 2));
    }
  }
};

}  // namespace sawtooth::experiments
