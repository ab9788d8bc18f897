// Sequences of different lengths in one launch (varlen). The grid of items is that of the longest
// ones, as in FlashAttention's varlen kernels: an item whose Q tile lies past its sequence's end is
// void. It reads and writes nothing, but takes its turn and counts for parity.
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/host_device.hpp"
#include "scheduler/pages.hpp"
#include "scheduler/policy_list.hpp"
#include "scheduler/prefix.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth {

/// Rows of Q of one head, and keys; either may be 0.
struct SequenceLengths {
  int64_t seq_q = 0;
  int64_t seq_kv = 0;
  friend constexpr bool operator==(const SequenceLengths&, const SequenceLengths&) = default;
};

struct GivenSequences {
  static constexpr std::string_view name = "given";
  static constexpr std::string_view description = "as they are numbered";
  static constexpr bool before(const SequenceLengths&, const SequenceLengths&) { return false; }
};

struct LongestSequences {
  static constexpr std::string_view name = "longest";
  static constexpr std::string_view description =
      "the one with the most pairs of a query and a key first (LPT); equal ones as numbered";
  static constexpr bool before(const SequenceLengths& a, const SequenceLengths& b) {
    return double(a.seq_q) * double(a.seq_kv) > double(b.seq_q) * double(b.seq_kv);
  }
};

/// In which order the batch walks its sequences.
using SequenceOrders = PolicyList<GivenSequences, LongestSequences>;

struct SequenceOrderId {
  int32_t index = 0;
  friend constexpr bool operator==(SequenceOrderId, SequenceOrderId) = default;
};

/// The sequences of a batch. Without lists all have the lengths of the problem, which otherwise are
/// the longest of each kind. Nothing is owned.
struct Sequences {
  const SequenceLengths* lengths = nullptr;  // one a sequence
  const int64_t* order = nullptr;            // the sequence at each place of the batch
  Prefix prefix{};
  Pages pages{};

  /// Sequence `batch` as a problem of its own.
  SAWTOOTH_HD constexpr Problem of(Problem problem, int64_t batch) const {
    if (lengths == nullptr) return problem;
    problem.seq_q = lengths[batch].seq_q;
    problem.seq_kv = lengths[batch].seq_kv;
    return problem;
  }
};

/// Whether Q tile `q_tile` of sequence `batch` lies past its end.
SAWTOOTH_HD constexpr bool is_void(const Problem& problem, const Tiling& tiling,
                                   const Sequences& sequences, int64_t batch, int64_t q_tile) {
  return sequences.lengths != nullptr && q_tile >= q_tiles(sequences.of(problem, batch), tiling);
}

/// item_at() with the tiles that its sequence has; those of the parts of kv-split are cut from the
/// sequence's own. A void item scans nothing.
SAWTOOTH_HD constexpr Item item_at(const Problem& problem, const Tiling& tiling,
                                   const Schedule& schedule, const Sequences& sequences,
                                   int64_t index) {
  Item item = item_at(problem, tiling, schedule, index);
  if (sequences.lengths == nullptr) return item;
  if (sequences.order != nullptr) item.batch = sequences.order[item.batch];
  item.scanned = scanned_by(sequences.of(problem, item.batch), tiling, schedule,
                            {item.batch, item.head, item.own_tile, item.part}, Pass::forward);
  return item;
}

}  // namespace sawtooth
