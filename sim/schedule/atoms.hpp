// Atoms: the tiles of Q, K, V, O and their gradients as units that the cache models move whole.
//
// A visit touches all lines of one tile in one order with nothing between them, and tiles are
// disjoint sets of lines. Then every line of a visit has the same LRU stack distance, so a tile
// with its number of lines as weight stands for its lines exactly (docs/models/exactness.md, A).
// The layout behind it is [batch, head, length, dim] with every head's matrix on a line boundary,
// and every tile of a number a row (log-sum-exp, row sums).
// Where workers prefetch parts of a K/V tile at different times, these parts are atoms
// of their own, neighbours in number as in memory.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "scheduler/integer_math.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/sequences.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::sim {

// Where rows of paged K and V lie: the pages of a tensor follow one another, and each holds its
// rows of one K/V head after the other, [page, head, row, dim].

class PagedKeys {
 public:
  PagedKeys() = default;
  /// Pages and tiles divide one another; K or V has rows of `row_bytes`.
  PagedKeys(const Problem& problem, const Tiling& tiling, const Pages& pages, int64_t row_bytes)
      : pages_(pages),
        kv_heads_(problem.kv_heads),
        tile_rows_(tiling.kv_rows),
        row_bytes_(row_bytes) {}

  bool paged() const { return pages_.paged(); }
  /// Rows of a tile that are neighbours in memory.
  int64_t run_rows() const { return min_of(pages_.rows, tile_rows_); }
  int64_t run_bytes() const { return run_rows() * row_bytes_; }
  /// The tensor has so many bytes.
  int64_t all_bytes() const { return pages_.count * kv_heads_ * pages_.rows * row_bytes_; }

  /// From the first byte of the tensor to byte `byte` of tile `tile` of flat K/V head `head`.
  int64_t address(int64_t head, int64_t tile, int64_t byte) const {
    const int64_t key = tile * tile_rows_ + byte / row_bytes_;
    const int64_t page = pages_.page_of(head / kv_heads_, key);
    const int64_t row = (page * kv_heads_ + head % kv_heads_) * pages_.rows + key % pages_.rows;
    return row * row_bytes_ + byte % row_bytes_;
  }

 private:
  Pages pages_;
  int64_t kv_heads_ = 1;
  int64_t tile_rows_ = 1;
  int64_t row_bytes_ = 1;
};

/// A sum, a log-sum-exp or a partial result is a float, whatever the type of Q, K and V.
inline constexpr int64_t float_bytes = 4;

/// partial_o and partial_lse exist with kv-split: float results that a combine kernel reads; in the
/// backward pass partial_dk and partial_dv, in the type of K and V. Pieces
/// of items that are cut, and items of a cascade, have partial_o, which the last of them reads.
/// other is what a trace does not say more of; a problem has none of it. Behind it come those of
/// the backward pass: row_sum is that of dO * O, dq_sum the fp32 sums that become dQ. Behind these
/// the fp32 sums of calls over parts of the keys, and their log-sum-exps.
enum class Tensor : uint8_t {
  q,
  k,
  v,
  o,
  lse,
  partial_o,
  partial_lse,
  other,
  d_o,
  row_sum,
  dq_sum,
  dq,
  dk,
  dv,
  running_o,
  running_lse,
  partial_dk,
  partial_dv
};
inline constexpr int tensor_count = 18;
inline constexpr std::array<std::string_view, tensor_count> tensor_names{
    "q",       "k",      "v",  "o",  "lse", "partial_o", "partial_lse", "other",      "d_o",
    "row_sum", "dq_sum", "dq", "dk", "dv",  "running_o", "running_lse", "partial_dk", "partial_dv"};

inline constexpr auto all_tensors = [] {
  std::array<Tensor, tensor_count> all{};
  for (size_t t = 0; t < all.size(); ++t) all[t] = static_cast<Tensor>(t);
  return all;
}();

/// Whether a tensor has rows of keys; the others have rows of queries.
constexpr bool has_key_rows(Tensor tensor) {
  return tensor == Tensor::k || tensor == Tensor::v || tensor == Tensor::dk ||
         tensor == Tensor::dv || tensor == Tensor::partial_dk || tensor == Tensor::partial_dv;
}
/// Whether a tensor has parts of results, which kv-split or cut items leave.
constexpr bool is_partial(Tensor tensor) {
  return tensor == Tensor::partial_o || tensor == Tensor::partial_lse ||
         tensor == Tensor::partial_dk || tensor == Tensor::partial_dv;
}

using AtomId = uint32_t;

struct AtomSize {
  uint32_t lines = 0;    // weight in the cache
  uint32_t sectors = 0;  // what counters count; a ragged tile may not fill its last line
  uint8_t tensor = 0;    // whose memory it is, a number of Tensor ...
  uint8_t tensors = 1;   // ... and of as many that follow: K and V of a tile may be one atom
  bool goes_on = false;  // with the tile of the atom before
  friend bool operator==(const AtomSize&, const AtomSize&) = default;
};

/// Atoms [begin, end).
struct AtomRange {
  AtomId begin = 0;
  AtomId end = 0;
};

/// What an atom of K and V is: a part of a tile, cut where workers prefetch parts at different
/// times; K and V of a tile as one, which has the number of either: what a step reads under one
/// barrier; a whole tile of K or of V; or of paged K and V the part of a tile that lies in one
/// page, of others a part.
enum class KvAtoms : uint8_t { parts, pairs, tiles, runs };

struct Request;

/// The atoms of one head of every tensor: equally many for all heads of a tensor, and equally large
/// where their sequences have one length. Where a sequence has fewer tiles than the longest one,
/// its last atoms have no lines and nothing touches them; the same of tiles of a prefix that lie in
/// the memory of another sequence.
class HeadAtoms {
 public:
  /// Throws std::invalid_argument when tiles would share a line (tile bytes no multiple of 128
  /// where a further tile follows), or when a head has more than 2^32 - 1 atoms. Pairs are atoms
  /// of tensor K, V has none.
  HeadAtoms(const Request& request, KvAtoms kv);

  /// Heads that `tensor` has. With kv_split the parts of a partial result are heads of their own,
  /// flat_head * kv_split + part; a piece is one with a single tile, in a cascade with one of each
  /// sequence of a stack.
  int64_t heads(Tensor tensor) const { return of(tensor).heads; }
  const std::vector<AtomSize>& sizes(Tensor tensor, int64_t head) const {
    return of(tensor).sizes[shape(tensor, head)];
  }
  /// Heads of one shape have atoms of the same sizes: those of sequences of the same lengths.
  size_t shapes() const { return shapes_; }
  /// Runs of heads_a_sequence() heads of one shape: the sequences, or all together.
  int64_t sequences(Tensor tensor) const {
    return of(tensor).sizes.size() <= 1 ? 1 : std::ssize(shape_of_);
  }
  int64_t heads_a_sequence(Tensor tensor) const { return of(tensor).heads / sequences(tensor); }
  size_t shape(Tensor tensor, int64_t head) const {
    if (of(tensor).sizes.size() <= 1) return 0;
    return shape_of_[static_cast<size_t>(head / heads_a_sequence(tensor))];
  }
  /// How many atoms a head has.
  int64_t count(Tensor tensor) const { return of(tensor).count; }
  /// And a tile, but the last one, which may have fewer.
  int64_t count_a_tile(Tensor tensor) const { return of(tensor).a_tile; }
  /// This is about K or V that is paged.
  const PagedKeys& paged_keys(Tensor k_or_v) const { return paged_keys_[k_or_v == Tensor::v]; }

  /// All atoms of a tile, in the order of its lines, where the head's first atom is `first`.
  AtomRange tile(Tensor tensor, AtomId first, int64_t tile) const {
    const OfHead& head = of(tensor);
    const int64_t before = tile * head.a_tile;
    return {first + static_cast<AtomId>(before),
            first + static_cast<AtomId>(min_of(before + head.a_tile, head.count))};
  }
  /// These atoms of a tile of K or V have their first line in `lines` of the tile.
  AtomRange part(Tensor k_or_v, AtomRange tile, Range lines) const;

 private:
  struct OfHead {
    int64_t heads = 0;
    int64_t a_tile = 1;  // atoms of a tile, of the last one there may be fewer
    int64_t count = 0;
    std::vector<std::vector<AtomSize>> sizes;  // of each shape
  };
  /// What shapes of heads differ in.
  struct OfSequence {
    int64_t seq_q = 0, seq_kv = 0;
    bool owns_prefix = true;
    auto operator<=>(const OfSequence&) const = default;
  };
  /// Each shape has an entry; the call fills shape_of_ and shapes_.
  std::vector<OfSequence> number_shapes(const Request& request);
  const OfHead& of(Tensor tensor) const { return of_[static_cast<size_t>(tensor)]; }

  std::array<PagedKeys, 2> paged_keys_;  // of K and of V
  std::array<OfHead, tensor_count> of_;
  size_t shapes_ = 1;
  std::vector<size_t> shape_of_;              // each sequence; empty: all have one
  std::array<std::vector<int64_t>, 2> cuts_;  // lines of a tile of K, V at which an atom begins
};

/// Throws std::invalid_argument when there are no `count` numbers.
void require_atom_ids(int64_t count);

}  // namespace sawtooth::sim
