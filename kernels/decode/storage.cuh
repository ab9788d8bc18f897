// The shared memory of a decode CTA: the ring of K/V tiles, what the loader tells the consumers.
#pragma once

#include <type_traits>

#include "kernels/decode/ring_barrier.cuh"
#include "kernels/decode/shape.hpp"

namespace sawtooth::kernels::decode {

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
