// What is fixed when a decode kernel is compiled (rows, tiles, warps, stages), and the shared
// memory of its CTAs: the ring of K/V tiles, what the loader tells the consumers.
#pragma once

#include <type_traits>

#include "kernels/decode/arguments.hpp"
#include "kernels/decode/ring_barrier.cuh"
#include "kernels/mma/shared_tile.hpp"

namespace sawtooth::kernels::decode {

/// A warp holds 16 RowBlocks rows; a group of 4 warps shares them and splits the keys of a tile,
/// 16 KeyBlocks a warp; RowGroups such groups read the same K/V tiles.
template <class ElementType, int HeadDim, int RowGroups, int RowBlocks, int KeyBlocks, int Stages,
          int CtasPerSm>
struct Shape {
  using Element = ElementType;
  static constexpr int head_dim = HeadDim;
  static constexpr int row_groups = RowGroups;
  static constexpr int row_blocks = RowBlocks;
  static constexpr int key_blocks = KeyBlocks;
  static constexpr int stages = Stages;  // of K and V together
  static constexpr int ctas_per_sm = CtasPerSm;
  static constexpr bool cascades = false;

  static constexpr int group_warps = 4;  // of one row group
  static constexpr int group_threads = group_warps * 32;
  static constexpr int group_rows = 16 * RowBlocks;
  static constexpr int rows = RowGroups * group_rows;
  static constexpr int warp_keys = 16 * KeyBlocks;
  static constexpr int kv_rows = group_warps * warp_keys;
  static constexpr Tiling tiling() { return {rows, kv_rows}; }
  static constexpr int consumer_warps = RowGroups * group_warps;
  static constexpr int consumer_threads = consumer_warps * 32;
  static constexpr int threads = consumer_threads + 32;  // and the loader
  static constexpr int warps = threads / 32;
  static constexpr bool q_in_registers = RowBlocks == 1 && HeadDim <= 128;

  /// Columns of O that the warps of a row group add up between two meetings: all where tiles ask
  /// for large shared memory anyway.
  static constexpr int merged_columns = KeyBlocks == 2 ? HeadDim : 32;

  using QTile = SharedTile<rows, HeadDim>;
  static constexpr int panels = HeadDim / 64;
  static_assert(HeadDim % 64 == 0);
  static constexpr int row_bytes = HeadDim * 2;
  static constexpr int kv_tile_bytes = kv_rows * row_bytes;

  /// Floats of a piece: its rows of O, not divided by their sums, then maxima and sums.
  static constexpr int piece_floats = rows * (HeadDim + 2);

  /// Rows that one copy brings: K and V lie in pages, and a tile in boxes [panel][row][64 columns].
  SAWTOOTH_HD static constexpr int box_rows(int page_rows) {
    return page_rows < kv_rows ? page_rows : kv_rows;
  }
};

/// The same for cascades (scheduler/cascade.hpp): a piece of a prefix has the rows of a stack of
/// sequences.
template <class Plain>
struct CascadeShape : Plain {
  static constexpr bool cascades = true;
};

/// A unit, or the piece of it that this share has.
struct Work {
  int32_t sequence;
  int32_t kv_head;
  int32_t row_tile;
  int32_t keys;                            // of the sequence
  int32_t first_tile;                      // of the sequence's tiles
  int32_t tiles;                           // 0: it has no key
  int32_t first_share, last_share, share;  // of the unit's pieces
  bool ends;                               // no work: the consumers leave
};
/// A cascade's item begins with the rows of `sequence`; `keys` ends what it scans.
struct CascadeWork : Work {
  int32_t sequences;  // whose rows it has
  int32_t owner;      // the sequence that has its keys in memory
  int32_t slot;       // of what this piece leaves
  bool of_prefix;
};
template <class Shape>
using WorkOf = std::conditional_t<Shape::cascades, CascadeWork, Work>;

/// The sequence that has the keys of `work` in memory.
template <class Work>
__device__ inline int32_t owner_of(const Work& work) {
  if constexpr (std::is_same_v<Work, CascadeWork>)
    return work.owner;
  else
    return work.sequence;
}

inline constexpr int work_slots = 3;

/// Columns of O that a thread adds up 4 of at a time.
inline constexpr int chunk_columns = 32;

template <class Shape>
struct Storage {
  alignas(tile_alignment) unsigned char k[Shape::stages][Shape::kv_tile_bytes];
  alignas(tile_alignment) unsigned char v[Shape::stages][Shape::kv_tile_bytes];
  alignas(tile_alignment) unsigned char q[Shape::QTile::bytes];
  // Rows lie 8 banks on, so that the 4 of a half-warp's store fall on 32 banks.
  float partial[Shape::row_groups][Shape::group_warps][16][Shape::merged_columns + 8];
  float maximum[Shape::row_groups][Shape::group_warps][Shape::group_rows];
  float sum[Shape::row_groups][Shape::group_warps][Shape::group_rows];
  RingBarrier full[Shape::stages], empty[Shape::stages];
  RingBarrier work_full[work_slots], work_empty[work_slots];
  WorkOf<Shape> work[work_slots];
  int comes_last[Shape::row_groups];  // in a cascade a bit a sequence
  int32_t tiles_before[];  // of each sequence and of the end: only with lengths of their own
};

}  // namespace sawtooth::kernels::decode
