// What all levels share: a warp's 16 rows against one K/V tile, S = Q K^T, online softmax,
// O += P V, on mma.sync m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"). A level brings
// `Fragments`, which says how operands come from shared memory; the arithmetic never changes.
//
// Lane l holds of every accumulator columns 2 (l % 4) and + 1 of rows l / 4 and l / 4 + 8.
#pragma once

#include "kernels/ladder/arguments.hpp"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels::ladder {

template <class Element>
struct WarpRows {
  uint32_t q[head_dim / 16][4];
  float output[head_dim / 8][4];
  float maximum[2];  // scaled by scale_log2, of the rows l / 4 and l / 4 + 8
  float sum[2];      // of this lane's columns only; sum_of_quad makes it the row's

  __device__ void reset() {
    for (auto& fragment : output)
      for (float& value : fragment) value = 0;
    for (int half = 0; half < 2; ++half) {
      maximum[half] = minus_infinity;
      sum[half] = 0;
    }
  }
};

/// The row of this lane's first accumulator row in its Q tile.
__device__ inline int first_row_of_lane() {
  return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
}

template <class Fragments, class Element>
__device__ void load_queries(WarpRows<Element>& rows, const Element* q_tile) {
#pragma unroll
  for (int k = 0; k < head_dim / 16; ++k)
    Fragments::queries(rows.q[k], q_tile, threadIdx.x / 32 * 16, 16 * k);
}

/// The maxima of `scores` join those of `rows`, whose output and sums move to the new reference;
/// scores become probabilities.
template <class Element>
__device__ void softmax_step(WarpRows<Element>& rows, float (&scores)[tile_rows / 8][4],
                             float scale_log2) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest = minus_infinity;
#pragma unroll
    for (auto& score : scores)
      largest = fmaxf(largest, fmaxf(score[2 * half], score[2 * half + 1]));
    const float maximum = fmaxf(rows.maximum[half], maximum_of_quad(largest) * scale_log2);
    const float factor = exp2_approximate(rows.maximum[half] - maximum);
    rows.maximum[half] = maximum;
    rows.sum[half] *= factor;
#pragma unroll
    for (auto& value : rows.output) {
      value[2 * half] *= factor;
      value[2 * half + 1] *= factor;
    }
#pragma unroll
    for (auto& score : scores)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        score[i] = exp2_approximate(score[i] * scale_log2 - maximum);
        rows.sum[half] += score[i];
      }
  }
}

/// One K/V tile in shared memory against the warp's rows.
template <class Fragments, class Element>
__device__ void attend(WarpRows<Element>& rows, const Element* k_tile, const Element* v_tile,
                       float scale_log2) {
  using Core = TensorCore<Element>;
  float scores[tile_rows / 8][4] = {};
#pragma unroll
  for (int k = 0; k < head_dim / 16; ++k)
#pragma unroll
    for (int n = 0; n < tile_rows / 16; ++n) {
      uint32_t b[4];
      Fragments::keys(b, k_tile, 16 * n, 16 * k);
      Core::multiply_add(scores[2 * n], rows.q[k], b[0], b[1]);
      Core::multiply_add(scores[2 * n + 1], rows.q[k], b[2], b[3]);
    }
  softmax_step(rows, scores, scale_log2);
#pragma unroll
  for (int n = 0; n < tile_rows / 16; ++n) {
    // Two accumulators of 8 columns are one A operand of 16.
    const uint32_t p[4] = {Core::pack(scores[2 * n][0], scores[2 * n][1]),
                           Core::pack(scores[2 * n][2], scores[2 * n][3]),
                           Core::pack(scores[2 * n + 1][0], scores[2 * n + 1][1]),
                           Core::pack(scores[2 * n + 1][2], scores[2 * n + 1][3])};
#pragma unroll
    for (int d = 0; d < head_dim / 16; ++d) {
      uint32_t b[4];
      Fragments::values(b, v_tile, 16 * n, 16 * d);
      Core::multiply_add(rows.output[2 * d], p, b[0], b[1]);
      Core::multiply_add(rows.output[2 * d + 1], p, b[2], b[3]);
    }
  }
}

/// O = output / sum to global memory, through the warp's own rows of the Q tile in shared memory,
/// so that stores are 16 bytes a lane and whole sectors.
template <class Tile, class Element>
__device__ void write_output(const WarpRows<Element>& rows, Element* shared, Element* o_tile) {
  const int row = first_row_of_lane();
  __syncwarp();  // the warp's reads of Q from these rows are over
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float inverse = 1.0f / sum_of_quad(rows.sum[half]);
#pragma unroll
    for (int n = 0; n < head_dim / 8; ++n) {
      Element* to = shared + Tile::offset(row + 8 * half, 8 * n + threadIdx.x % 4 * 2);
      *reinterpret_cast<uint32_t*>(to) = TensorCore<Element>::pack(
          rows.output[n][2 * half] * inverse, rows.output[n][2 * half + 1] * inverse);
    }
  }
  __syncwarp();
  constexpr int row_chunks = head_dim / chunk;
#pragma unroll
  for (int at = threadIdx.x % 32; at < 16 * row_chunks; at += 32) {
    const int o_row = threadIdx.x / 32 * 16 + at / row_chunks;
    const int column = at % row_chunks * chunk;
    *reinterpret_cast<uint4*>(o_tile + o_row * head_dim + column) =
        *reinterpret_cast<const uint4*>(shared + Tile::offset(o_row, column));
  }
}

}  // namespace sawtooth::kernels::ladder
