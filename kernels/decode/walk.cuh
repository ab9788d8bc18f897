// The walk of a CTA through its share: from tiles of the row of all K/V work to pieces of units.
// By the loader's warp; every lane holds the same values.
#pragma once

#include "kernels/decode/storage.cuh"
#include "scheduler/cascade_row.hpp"

namespace sawtooth::kernels::decode {

/// The cascade of a launch.
template <class Shape>
__device__ inline Cascade cascade_of(const DecodeArguments& arguments) {
  Problem packed;
  packed.batch = arguments.batch;
  packed.heads = arguments.kv_heads;
  packed.seq_q = arguments.rows();
  return Cascade(packed, Tiling{Shape::rows, Shape::kv_rows}, arguments.prefix);
}

/// Where the row of all tiles stands: sequence b has tiles [b's first, b + 1's first) of each of
/// its units, in a cascade of its own keys alone. With lengths on the device nothing but this
/// depends on them, so a captured launch follows lengths that change between replays.
template <class Shape>
class TileRow {
 public:
  /// sum_lengths() fills `tiles_before`.
  __device__ TileRow(const DecodeArguments& arguments, int32_t* tiles_before)
      : arguments_(arguments), tiles_before_(tiles_before) {}

  /// Tiles before each sequence: 32 sequences at a time, a lane of the warp each. Nothing without
  /// lengths.
  __device__ void sum_lengths() {
    if (arguments_.lengths == nullptr) return;
    const int lane = thread_number() % 32;
    int32_t before = 0;
    for (int first = 0; first < arguments_.batch; first += 32) {
      const int sequence = first + lane;
      int32_t sum = sequence < arguments_.batch ? tiles_of(keys(sequence)) : 0;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const int32_t other = __shfl_up_sync(0xffffffff, sum, distance);
        if (lane >= distance) sum += other;
      }
      if (sequence < arguments_.batch) tiles_before_[sequence + 1] = before + sum;
      before += __shfl_sync(0xffffffff, sum, 31);
    }
    if (lane == 0) tiles_before_[0] = 0;
    __syncwarp();
  }

  __device__ int32_t keys(int sequence) const {
    return arguments_.lengths == nullptr ? arguments_.most_keys
                                         : bounded(__ldcg(arguments_.lengths + sequence));
  }
  /// One unit of the sequence has so many tiles.
  __device__ int32_t tiles(int sequence) const {
    return arguments_.lengths == nullptr ? tiles_of(arguments_.most_keys)
                                         : tiles_before_[sequence + 1] - tiles_before_[sequence];
  }
  /// One unit of each sequence before has, in all, so many tiles.
  __device__ int64_t before(int sequence) const {
    return arguments_.lengths == nullptr ? int64_t(sequence) * tiles_of(arguments_.most_keys)
                                         : tiles_before_[sequence];
  }
  /// The units of all sequences have so many tiles.
  __device__ int64_t all() const {
    return before(arguments_.batch) * arguments_.units_a_sequence();
  }
  /// The sequence that has tile `tile` of the row.
  __device__ int sequence_of(int64_t tile) const {
    const int64_t in_one_unit = tile / arguments_.units_a_sequence();
    if (arguments_.lengths == nullptr) return int(in_one_unit / tiles_of(arguments_.most_keys));
    int low = 0;
    int high = arguments_.batch;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (tiles_before_[middle] <= in_one_unit ? low : high) = middle;
    }
    return low;
  }

 private:
  /// Longer than the table is as long as it; the API's debug check refuses it.
  __device__ int32_t bounded(int32_t length) const {
    return min(max(length, Shape::cascades ? arguments_.least_keys : 0), arguments_.most_keys);
  }
  __device__ int32_t tiles_of(int32_t keys) const {
    if constexpr (Shape::cascades) keys -= int32_t(arguments_.prefix.keys);
    return keys > 0 ? (keys + Shape::kv_rows - 1) / Shape::kv_rows : 1;
  }

  const DecodeArguments& arguments_;
  int32_t* tiles_before_;
};

/// The piece of item `item` of a cascade that this share has from tile `tile` of the row on.
template <class Shape>
__device__ inline CascadeWork prefix_work(const DecodeArguments& arguments, const Cascade& cascade,
                                          const KvShares& shares, int64_t item, int64_t tile,
                                          int64_t tiles, int64_t share) {
  const Range sequences = cascade.sequences_of(item);
  const int64_t all = arguments.prefix.tiles(Shape::kv_rows);
  const Range in_row{item * all, (item + 1) * all};
  return {Work{.sequence = int32_t(sequences.begin),
               .kv_head = int32_t(cascade.head_of(item)),
               .row_tile = 0,
               .keys = int32_t(arguments.prefix.keys),
               .first_tile = int32_t(tile - in_row.begin),
               .tiles = int32_t(tiles),
               .first_share = 0,
               .last_share = 0,
               .share = int32_t(share),
               .ends = false},
          int32_t(sequences.size()), int32_t(arguments.prefix.first_of_group(sequences.begin)),
          int32_t(cascade_pieces(shares, item, in_row).slot(share)), true};
}

/// In a cascade a sequence's unit, which has tiles `in_row` of the row, scans tiles of its own
/// keys.
template <class Shape>
__device__ inline CascadeWork behind_prefix(const DecodeArguments& arguments,
                                            const KvShares& shares, const Range& in_row,
                                            Work work) {
  if (work.keys <= arguments.prefix.keys) work.tiles = 0;
  work.first_tile += int32_t(arguments.prefix.tiles(Shape::kv_rows));
  const int64_t item = cascade_of<Shape>(arguments).prefix_items() +
                       int64_t(work.sequence) * arguments.kv_heads + work.kv_head;
  const CascadePieces pieces = cascade_pieces(shares, item, in_row);
  return {work, 1, work.sequence, int32_t(pieces.slot(work.share)), false};
}

/// All tiles of the row, and of them those of prefixes, which come first.
struct RowTiles {
  int64_t all;
  int64_t of_prefixes;
};
template <class Shape>
__device__ inline RowTiles row_tiles(const DecodeArguments& arguments, const TileRow<Shape>& row) {
  if constexpr (Shape::cascades) {
    const int64_t tiles =
        cascade_of<Shape>(arguments).prefix_items() * arguments.prefix.tiles(Shape::kv_rows);
    return {tiles + row.all(), tiles};
  } else {
    return {row.all(), 0};
  }
}

/// Calls `visit(work)` for every piece of this CTA's share, by the whole warp.
template <class Shape, class Visit>
__device__ inline void walk_shares(const DecodeArguments& arguments, int32_t* tiles_before,
                                   Visit visit) {
  TileRow<Shape> row(arguments, tiles_before);
  row.sum_lengths();
  const RowTiles all = row_tiles(arguments, row);
  const KvShares shares(all.all, gridDim.x);
  const int64_t share = blockIdx.x;
  if (share >= shares.count()) return;
  const int64_t end = shares.begin(share + 1);
  int64_t tile = shares.begin(share);
  if constexpr (Shape::cascades) {
    const Cascade cascade = cascade_of<Shape>(arguments);
    const int64_t tiles = arguments.prefix.tiles(Shape::kv_rows);
    while (tile < min_of(end, all.of_prefixes)) {
      const int64_t item = tile / tiles;
      const int64_t piece_end = min_of(end, (item + 1) * tiles);
      visit(prefix_work<Shape>(arguments, cascade, shares, item, tile, piece_end - tile, share));
      tile = piece_end;
    }
  }
  int sequence = row.sequence_of(Shape::cascades ? max_of(0, tile - all.of_prefixes) : tile);
  while (tile < end) {
    const int32_t tiles = row.tiles(sequence);
    const int64_t sequence_begin =
        all.of_prefixes + row.before(sequence) * arguments.units_a_sequence();
    const auto unit = int32_t((tile - sequence_begin) / tiles);
    const int64_t unit_begin = sequence_begin + int64_t(unit) * tiles;
    const int64_t unit_end = unit_begin + tiles;
    const int64_t piece_end = min_of(end, unit_end);
    const UnitPieces pieces = pieces_of(shares, unit_begin, unit_end);
    const int32_t keys = row.keys(sequence);
    Work work{.sequence = sequence,
              .kv_head = unit / arguments.row_tiles,
              .row_tile = unit % arguments.row_tiles,
              .keys = keys,
              .first_tile = int32_t(tile - unit_begin),
              .tiles = keys > 0 ? int32_t(piece_end - tile) : 0,
              .first_share = int32_t(pieces.first),
              .last_share = int32_t(pieces.last),
              .share = int32_t(share),
              .ends = false};
    if constexpr (Shape::cascades)
      visit(behind_prefix<Shape>(arguments, shares, {unit_begin, unit_end}, work));
    else
      visit(work);
    tile = piece_end;
    if (tile == sequence_begin + int64_t(tiles) * arguments.units_a_sequence()) ++sequence;
  }
}

}  // namespace sawtooth::kernels::decode
