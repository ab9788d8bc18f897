// Level 4: ldmatrix. One instruction hands a warp four 8x8 matrices, where a lane needed four
// loads of words for K, and eight of half words and four merges for V; `.trans` turns V on its way
// (PTX ISA, "ldmatrix").
#pragma once

#include "kernels/ladder/level_3_swizzled.cuh"

namespace sawtooth::kernels::ladder {

/// As WordFragments. Lane l gives the address of row l % 8 of matrix l / 8.
template <class Tile_>
struct MatrixFragments {
  using Tile = Tile_;

  template <class Element>
  __device__ static void queries(uint32_t (&a)[4], const Element* tile, int row, int column) {
    const int lane = threadIdx.x % 32;
    load_matrices(a, shared_address(tile + Tile::offset(row + lane % 16, column + lane / 16 * 8)));
  }
  template <class Element>
  __device__ static void keys(uint32_t (&b)[4], const Element* tile, int key, int column) {
    const int lane = threadIdx.x % 32;
    const int row = key + lane % 8 + lane / 16 * 8;
    load_matrices(b, shared_address(tile + Tile::offset(row, column + lane / 8 % 2 * 8)));
  }
  template <class Element>
  __device__ static void values(uint32_t (&b)[4], const Element* tile, int key, int column) {
    const int lane = threadIdx.x % 32;
    const int row = key + lane % 16;
    load_matrices_transposed(b, shared_address(tile + Tile::offset(row, column + lane / 16 * 8)));
  }
};

template <class Element>
struct Ldmatrix : PipelinedLoop<Element, MatrixFragments<SwizzledTile>> {};

}  // namespace sawtooth::kernels::ladder
