// Atoms: the tiles of Q, K, V and O as units that the cache models move whole.
//
// A visit touches all lines of one tile in one order with nothing between them, and tiles are
// disjoint sets of lines. Then every line of a visit has the same LRU stack distance, so a tile
// with its number of lines as weight stands for its lines exactly (docs/models/exactness.md, A).
// The layout behind it is [batch, head, length, dim] with every head's matrix on a line boundary.
// Where workers prefetch parts of a K/V tile at different times, these parts are atoms
// (sim/schedule/prefetch_cuts.hpp), neighbours in number as in memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::sim {

/// partial_o and partial_lse exist with kv-split: float results that a combine kernel reads. Pieces
/// of a last wave that is cut have partial_o, which the last of them reads.
/// other is what a trace does not say more of; a problem has none of it.
enum class Tensor : uint8_t { q, k, v, o, lse, partial_o, partial_lse, other };
inline constexpr int tensor_count = 8;
inline constexpr std::array<std::string_view, tensor_count> tensor_names{
    "q", "k", "v", "o", "lse", "partial_o", "partial_lse", "other"};

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
/// barrier; or a whole tile of K or of V.
enum class KvAtoms : uint8_t { parts, pairs, tiles };

/// Numbers the atoms of a problem densely, tensor after tensor, head after head, tile after tile.
class AtomTable {
 public:
  /// Throws std::invalid_argument when tiles would share a line (tile bytes no multiple of 128
  /// where a further tile follows), or when there are more than 2^32 - 1 atoms.
  AtomTable(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
            bool log_sum_exp, KvAtoms kv = KvAtoms::parts);

  /// `flat_head` is batch_index * heads_of_the_tensor + head (kv_heads for K and V); with kv_split
  /// partial results have flat_head * kv_split + part, and a piece its number with tile 0.
  AtomId id(Tensor tensor, int64_t flat_head, int64_t tile) const {
    const Block& block = blocks_[static_cast<size_t>(tensor)];
    return static_cast<AtomId>(block.first + flat_head * block.a_head + tile * block.a_tile);
  }
  /// All atoms of a tile, in the order of its lines; `id` is the first.
  AtomRange tile(Tensor tensor, int64_t flat_head, int64_t tile) const;
  /// Of these, those whose first line lies in `lines` of the tile.
  AtomRange part(Tensor tensor, int64_t flat_head, int64_t tile, Range lines) const;
  Tensor tensor_of(AtomId atom) const { return static_cast<Tensor>(sizes_[atom].tensor); }
  /// The tensor of every atom, as a number.
  std::vector<uint8_t> tensors() const;
  AtomSize size(AtomId atom) const { return sizes_[atom]; }
  const std::vector<AtomSize>& sizes() const { return sizes_; }

 private:
  struct Block {
    int64_t first = 0;
    int64_t a_tile = 1;  // atoms of a tile, of the last one there may be fewer
    int64_t a_head = 0;
  };
  std::array<Block, tensor_count> blocks_{};
  std::vector<int64_t> cuts_{0};  // lines of a K/V tile at which an atom begins
  std::vector<AtomSize> sizes_;
};

}  // namespace sawtooth::sim
