// Sequences of different lengths in one launch (varlen). The grid of items is that of the longest
// ones, as in FlashAttention's varlen kernels: an item whose Q tile lies past its sequence's end is
// void. It reads and writes nothing, but takes its turn and counts for parity.
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/permutation.hpp"
#include "scheduler/policy_list.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth {

// A prefix that groups of sequences share: their first `keys` keys are the same rows of K and V in
// memory, such as a system prompt. Groups are neighbours: sequences [n group, (n + 1) group), the
// last one has what is left. The keys of a group lie where its first sequence has them.

struct Prefix {
  int64_t keys = 0;   // whole K/V tiles; 0: nothing is shared
  int64_t group = 1;  // sequences

  SAWTOOTH_HD constexpr bool shared() const { return keys > 0; }
  /// The sequence that has the prefix of sequence `sequence` in memory.
  SAWTOOTH_HD constexpr int64_t first_of_group(int64_t sequence) const {
    return sequence - sequence % group;
  }
  SAWTOOTH_HD constexpr bool owns(int64_t sequence) const {
    return !shared() || sequence % group == 0;
  }
  /// K/V tiles of the prefix, of `kv_rows` rows each.
  SAWTOOTH_HD constexpr int64_t tiles(int64_t kv_rows) const { return keys / kv_rows; }
  /// The sequence in whose memory K/V tile `tile` of sequence `sequence` lies.
  SAWTOOTH_HD constexpr int64_t owner(int64_t sequence, int64_t tile, int64_t kv_rows) const {
    return shared() && tile < tiles(kv_rows) ? first_of_group(sequence) : sequence;
  }
};

// Pages: K and V of a sequence lie in pages of `rows` keys each, which a table names (Kwon et al.,
// "PagedAttention", arXiv 2309.06180). A page holds its keys of all K/V heads. Key j of a sequence
// stands in row j mod rows of the page that its table has at j / rows.

struct Pages {
  int64_t rows = 0;  // keys a page; 0: K and V are not paged
  /// The page of each run of `rows` keys, `stride` entries a sequence. Not owned; memory of the
  /// side that reads it.
  const int32_t* table = nullptr;
  int64_t stride = 0;
  int64_t count = 0;  // the numbers of all pages lie below it

  SAWTOOTH_HD constexpr bool paged() const { return rows > 0; }
  /// Key `key` of sequence `sequence` lies in this page.
  SAWTOOTH_HD constexpr int64_t page_of(int64_t sequence, int64_t key) const {
    return table[sequence * stride + key / rows];
  }
};

/// Pages that `keys` keys take.
SAWTOOTH_HD constexpr int64_t pages_for(int64_t keys, int64_t page_rows) {
  return ceil_div(keys, page_rows);
}

/// How a table without a file names the pages, counted through sequence after sequence: as they are
/// counted, or in an order that a seed shuffles, as those of a server are that has run for long.
struct PageOrder {
  bool shuffled = false;
  uint64_t seed = 0;

  /// The page that stands at `place` of `pages`.
  SAWTOOTH_HD constexpr int64_t page(int64_t place, int64_t pages) const {
    return shuffled ? permuted(place, pages, mix_seed(seed, 0)) : place;
  }
};

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
