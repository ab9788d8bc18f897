// Level 5: FlashAttention-1's loop (arXiv 2205.14135, Algorithm 1), with the operands of level 4.
// A CTA owns a whole head. The outer loop runs over K/V tiles, each read once; the inner loop over
// Q tiles reads Q, the O so far and its log-sum-exp, and writes O and the log-sum-exp again. It is
// `loop = kv-outer` of the scheduler with `lse = on`: the other traffic pattern of attention.
//
// A row's state between two K/V tiles is O, normalised, and one number: with maximum = lse and
// sum = 1 the online softmax goes on from there. O is rounded to its 16 bits at every K/V tile.
#pragma once

#include "kernels/ladder/level_4_ldmatrix.cuh"

namespace sawtooth::kernels::ladder {

template <class Element_>
struct KvOuter {
  using Element = Element_;
  using Fragments = MatrixFragments<SwizzledTile>;
  using Tile = SwizzledTile;
  static constexpr int shared_tiles = 4;  // K, V, Q, O

  __device__ static void resume(WarpRows<Element>& rows, const Element* o_tile, const float* lse) {
    const int row = first_row_of_lane();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      rows.maximum[half] = lse[row + 8 * half];
      rows.sum[half] = threadIdx.x % 4 == 0 ? 1.0f : 0.0f;  // one of the four lanes of a row
#pragma unroll
      for (int n = 0; n < head_dim / 8; ++n) {
        const Element* from = o_tile + Tile::offset(row + 8 * half, 8 * n + threadIdx.x % 4 * 2);
        rows.output[n][2 * half] = float(from[0]);
        rows.output[n][2 * half + 1] = float(from[1]);
      }
    }
  }

  __device__ static void write_lse(const WarpRows<Element>& rows, float* lse) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = sum_of_quad(rows.sum[half]);
      if (threadIdx.x % 4 == 0)
        lse[first_row_of_lane() + 8 * half] = rows.maximum[half] + log2f(sum);
    }
  }

  __device__ static void run(const Arguments& arguments, Element* shared) {
    Element* k_tile = shared;
    Element* v_tile = shared + tile_elements;
    Element* q_tile = shared + 2 * tile_elements;
    Element* o_tile = shared + 3 * tile_elements;
    for (int64_t kv = 0; kv < arguments.tiles(); ++kv) {
      const int64_t kv_begin = arguments.tile_begin(blockIdx.y, kv);
      start_copy<Tile>(k_tile, static_cast<const Element*>(arguments.k) + kv_begin);
      start_copy<Tile>(v_tile, static_cast<const Element*>(arguments.v) + kv_begin);
      for (int64_t tile = 0; tile < arguments.tiles(); ++tile) {
        const int64_t begin = arguments.tile_begin(blockIdx.y, tile);
        Element* o = static_cast<Element*>(arguments.o) + begin;
        float* lse = arguments.lse + begin / head_dim;
        start_copy<Tile>(q_tile, static_cast<const Element*>(arguments.q) + begin);
        if (kv > 0) start_copy<Tile>(o_tile, static_cast<const Element*>(o));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        WarpRows<Element> rows;
        rows.reset();
        if (kv > 0) resume(rows, o_tile, lse);
        load_queries<Fragments>(rows, q_tile);
        attend<Fragments>(rows, k_tile, v_tile, arguments.scale_log2);
        write_output<Tile>(rows, q_tile, o);
        write_lse(rows, lse);
        __syncthreads();
      }
    }
  }
};

}  // namespace sawtooth::kernels::ladder
