// Level 2: cp.async into a ring of two K/V tiles. While a tile is computed the next one is on its
// way, and registers are free of it. With N groups in flight a step waits for the oldest, that is
// until N - 1 are left: to wait for all of them (wait_group 0) would undo the overlap.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "kernels/ladder/level_1_naive.cuh"

namespace sawtooth::kernels::ladder {

/// Starts the copy of a tile, 16 bytes a thread and turn; waits for nothing.
template <class Tile, class Element>
__device__ void start_copy(Element* to, const Element* from) {
#pragma unroll
  for (int at = threadIdx.x * chunk; at < tile_elements; at += threads * chunk)
    __pipeline_memcpy_async(to + Tile::offset(at / head_dim, at % head_dim), from + at,
                            chunk * sizeof(Element));
}

/// The loop of levels 2, 3 and 4, which differ in `Fragments` only.
template <class Element_, class Fragments_>
struct PipelinedLoop {
  using Element = Element_;
  using Fragments = Fragments_;
  using Tile = typename Fragments::Tile;
  static constexpr int stages = 2;
  static constexpr int shared_tiles = 1 + 2 * stages;  // Q, then K and V of each stage

  __device__ static void start_kv(const Arguments& arguments, Element* stage, int64_t tile) {
    const int64_t begin = arguments.tile_begin(blockIdx.y, tile);
    start_copy<Tile>(stage, static_cast<const Element*>(arguments.k) + begin);
    start_copy<Tile>(stage + tile_elements, static_cast<const Element*>(arguments.v) + begin);
  }

  __device__ static void run(const Arguments& arguments, Element* shared) {
    Element* q_tile = shared;
    Element* ring = shared + tile_elements;
    const int64_t own = arguments.tile_begin(blockIdx.y, blockIdx.x);

    WarpRows<Element> rows;
    rows.reset();
    start_copy<Tile>(q_tile, static_cast<const Element*>(arguments.q) + own);
    start_kv(arguments, ring, 0);
    __pipeline_commit();  // the first group: Q and K/V tile 0
    for (int64_t tile = 0; tile < arguments.tiles(); ++tile) {
      Element* stage = ring + tile % stages * (2 * tile_elements);
      if (tile + 1 < arguments.tiles())
        start_kv(arguments, ring + (tile + 1) % stages * (2 * tile_elements), tile + 1);
      __pipeline_commit();  // empty at the end, so that the count below holds for every tile
      __pipeline_wait_prior(stages - 1);
      __syncthreads();
      if (tile == 0) load_queries<Fragments>(rows, q_tile);
      attend<Fragments>(rows, stage, stage + tile_elements, arguments.scale_log2);
      __syncthreads();  // the stage is free for tile + 2
    }
    write_output<Tile>(rows, q_tile, static_cast<Element*>(arguments.o) + own);
  }
};

template <class Element>
struct Pipelined : PipelinedLoop<Element, WordFragments<RowMajorTile>> {};

}  // namespace sawtooth::kernels::ladder
