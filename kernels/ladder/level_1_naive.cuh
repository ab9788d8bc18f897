// Level 1: tensor cores, and nothing else that costs thought. A CTA owns one Q tile of one head. A
// K/V tile is loaded through registers into row-major shared memory, everybody waits, everybody
// computes, everybody waits. Operands are read from shared memory in words of 32 bits, V's in
// pairs of 16: eight lanes of a fragment stand in eight rows 256 bytes apart, in the same bank.
#pragma once

#include "kernels/ladder/warp_rows.cuh"

namespace sawtooth::kernels::ladder {

/// Row after row, no padding.
struct RowMajorTile {
  /// Place of an element; `chunk` elements from a multiple of `chunk` on lie together.
  SAWTOOTH_HD static constexpr int offset(int row, int column) { return row * head_dim + column; }
};

/// Operands of mma, one word of two elements after the other.
template <class Tile_>
struct WordFragments {
  using Tile = Tile_;

  template <class Element>
  __device__ static uint32_t pair_in_row(const Element* tile, int row, int column) {
    return *reinterpret_cast<const uint32_t*>(tile + Tile::offset(row, column));
  }
  template <class Element>
  __device__ static uint32_t pair_in_column(const Element* tile, int row, int column) {
    const auto* bits = reinterpret_cast<const uint16_t*>(tile);
    return bits[Tile::offset(row, column)] | uint32_t(bits[Tile::offset(row + 1, column)]) << 16;
  }

  /// A operand of rows [row, row + 16), columns [column, column + 16).
  template <class Element>
  __device__ static void queries(uint32_t (&a)[4], const Element* tile, int row, int column) {
    const int group = threadIdx.x % 32 / 4;
    const int pair = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      a[i] = pair_in_row(tile, row + group + i % 2 * 8, column + pair + i / 2 * 8);
  }
  /// Two B operands of Q K^T: keys [key, key + 8) in b[0..1], the next eight in b[2..3].
  template <class Element>
  __device__ static void keys(uint32_t (&b)[4], const Element* tile, int key, int column) {
    const int group = threadIdx.x % 32 / 4;
    const int pair = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      b[i] = pair_in_row(tile, key + group + i / 2 * 8, column + pair + i % 2 * 8);
  }
  /// Two B operands of P V: columns [column, column + 8) in b[0..1], the next eight in b[2..3].
  template <class Element>
  __device__ static void values(uint32_t (&b)[4], const Element* tile, int key, int column) {
    const int group = threadIdx.x % 32 / 4;
    const int pair = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      b[i] = pair_in_column(tile, key + pair + i % 2 * 8, column + group + i / 2 * 8);
  }
};

/// Copies a tile through registers, 16 bytes a thread and turn; waits for every load.
template <class Tile, class Element>
__device__ void copy_through_registers(Element* to, const Element* from) {
#pragma unroll
  for (int at = threadIdx.x * chunk; at < tile_elements; at += threads * chunk)
    *reinterpret_cast<uint4*>(to + Tile::offset(at / head_dim, at % head_dim)) =
        *reinterpret_cast<const uint4*>(from + at);
}

template <class Element_>
struct Naive {
  using Element = Element_;
  using Fragments = WordFragments<RowMajorTile>;
  using Tile = RowMajorTile;
  static constexpr int shared_tiles = 3;  // Q, K, V

  __device__ static void run(const Arguments& arguments, Element* shared) {
    Element* q_tile = shared;
    Element* k_tile = shared + tile_elements;
    Element* v_tile = shared + 2 * tile_elements;
    const int64_t own = arguments.tile_begin(blockIdx.y, blockIdx.x);

    WarpRows<Element> rows;
    rows.reset();
    copy_through_registers<Tile>(q_tile, static_cast<const Element*>(arguments.q) + own);
    __syncthreads();
    load_queries<Fragments>(rows, q_tile);
    for (int64_t tile = 0; tile < arguments.tiles(); ++tile) {
      const int64_t begin = arguments.tile_begin(blockIdx.y, tile);
      copy_through_registers<Tile>(k_tile, static_cast<const Element*>(arguments.k) + begin);
      copy_through_registers<Tile>(v_tile, static_cast<const Element*>(arguments.v) + begin);
      __syncthreads();
      attend<Fragments>(rows, k_tile, v_tile, arguments.scale_log2);
      __syncthreads();
    }
    write_output<Tile>(rows, q_tile, static_cast<Element*>(arguments.o) + own);
  }
};

}  // namespace sawtooth::kernels::ladder
