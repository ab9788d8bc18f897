// Output rows straight from accumulators to global memory: no shared memory, no barrier, so the
// next item's loads run underneath.
//
// In an accumulator a row's 32 columns lie as 4 groups of 8 over the 4 lanes of a quad, 4 bytes a
// lane and group once rounded. A 4 x 4 transpose inside the quad gives every lane 16 consecutive
// bytes, so that a store of the quad covers 64 consecutive bytes of a row: whole sectors.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "kernels/hopper/barrier.cuh"
#include "kernels/hopper/instructions.cuh"
#include "kernels/hopper/layout.hpp"
#include "kernels/hopper/softmax.cuh"
#include "kernels/mma/ptx.cuh"
#include "kernels/mma/running_results.cuh"
#include "kernels/tma/barrier.cuh"

namespace sawtooth::kernels::hopper {

/// Word j of lane q goes to word q of lane j, lanes counted inside the quad.
__device__ inline uint4 transpose_quad(uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3) {
  const bool odd = threadIdx.x & 1;
  const bool high = threadIdx.x & 2;
  const uint32_t from01 = __shfl_xor_sync(0xffffffff, odd ? w0 : w1, 1);
  const uint32_t from23 = __shfl_xor_sync(0xffffffff, odd ? w2 : w3, 1);
  const uint32_t x0 = odd ? from01 : w0;
  const uint32_t x1 = odd ? w1 : from01;
  const uint32_t x2 = odd ? from23 : w2;
  const uint32_t x3 = odd ? w3 : from23;
  const uint32_t y0 = __shfl_xor_sync(0xffffffff, high ? x0 : x2, 2);
  const uint32_t y1 = __shfl_xor_sync(0xffffffff, high ? x1 : x3, 2);
  return high ? make_uint4(y0, y1, x2, x3) : make_uint4(x0, x1, y0, y1);
}

/// Writes this thread's part of row half `half`, times `factor`, to the row at `row` (16-byte
/// aligned) where `valid`. All lanes of the warp call it. `OneAddress`: a lane's stores are offsets
/// from one address, not each added up anew.
template <bool OneAddress, class Element, int Count>
__device__ inline void store_row(Element* row, const float (&output)[Count], int half, float factor,
                                 bool valid) {
  constexpr int columns_a_store = 32;
  constexpr int accumulators_a_store = 16;
  const int lane_in_quad = threadIdx.x % 4;
  Element* const first = OneAddress ? row + threadIdx.x % 4 * 8 : row;
#pragma unroll
  for (int first_of_store = 0; first_of_store < Count; first_of_store += accumulators_a_store) {
    const int store = first_of_store / accumulators_a_store;
    uint32_t words[4] = {};
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      const int i = first_of_store + group * 4 + half * 2;
      if (i < Count)
        words[group] = TensorCore<Element>::pack(output[i] * factor, output[i + 1] * factor);
    }
    const uint4 chunk = transpose_quad(words[0], words[1], words[2], words[3]);
    // The last store of a row may have columns for two of the lanes.
    const bool has_columns = first_of_store + accumulators_a_store <= Count || lane_in_quad < 2;
    if (valid && has_columns) {
      *reinterpret_cast<uint4*>(first + store * columns_a_store +
                                (OneAddress ? 0 : lane_in_quad * 8)) = chunk;
    }
  }
}

/// The same in float without transposing: the quad's 8 bytes a lane are one whole sector.
template <int Count>
__device__ inline void store_partial_row(float* row, const float (&output)[Count], int half,
                                         float factor, bool valid) {
  if (!valid) return;
#pragma unroll
  for (int i = 2 * half; i < Count; i += 4) {
    *reinterpret_cast<float2*>(row + quad_column(i) + column_offset(threadIdx.x)) =
        make_float2(output[i] * factor, output[i + 1] * factor);
  }
}

/// Adds what calls before have left at `row`, leaves the sum there and keeps it. Loads are asked
/// for before anything is stored: behind stores they would wait for DRAM one after another.
template <int Count>
__device__ inline void add_row_to_running(float* row, float (&output)[Count], int half,
                                          float factor, float of_earlier, bool valid) {
  constexpr int pairs = Count / 4;
  // All 32 of head dim 256 in one loop spill.
  constexpr int at_once = pairs <= 16 ? pairs : pairs % 16 == 0 ? 16 : pairs / 2;
  static_assert(pairs % at_once == 0);
  if (!valid) return;
  float* const first = row + column_offset(threadIdx.x);
#pragma unroll
  for (int begin = 0; begin < pairs; begin += at_once) {
    float2 earlier[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = 4 * (begin + k) + 2 * half;
      earlier[k] = earlier_pair(first + quad_column(i), of_earlier);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int i = 4 * (begin + k) + 2 * half;
      const float2 sum = store_sum(first + quad_column(i), make_float2(output[i], output[i + 1]),
                                   factor, earlier[k], of_earlier);
      output[i] = sum.x;
      output[i + 1] = sum.y;
    }
  }
}

// O on a shorter way: rounded and laid out in shared memory by stmatrix, then written by the copy
// engine while the next item runs. Stores from registers take a warpgroup some 1,500
// clocks of the 14,500 of an item of four tiles, this way takes 1,100 where a warpgroup copies as
// one.
//
// PTX ISA: "stmatrix", "cp.async.bulk.tensor", "cp.async.bulk.wait_group".

/// Rows of a box: a warp copies its own, so that no warp waits for another, and one that has merged
/// the pieces of an item may copy alone.
inline constexpr int copied_rows = warpgroup_rows / 4;

/// Results that leave by the copy engine: O's map, with boxes of a warp's rows, and where its tile
/// lies in shared memory: of each warp the panels of its rows.
struct CopiedResults {
  const CUtensorMap& o;
  uint32_t tile;
};

/// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void store_matrices(uint32_t to, const uint32_t (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

/// Starts the copy of a panel from shared memory; rows and columns past the end of the tensor are
/// not written.
__device__ inline void store_panel(const CUtensorMap& map, uint32_t from, int32_t column,
                                   int32_t row, int32_t head, int32_t batch) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::
          "l"(&map),
      "r"(from), "r"(column), "r"(row), "r"(0), "r"(head), "r"(batch)
      : "memory");
}

/// By a warp, number `warp` of the consumers: its rows, times the factor of each, on their way to
/// rows from `first_row` on. Shared memory has `AtOnce` panels of them at a time.
template <class Element, int AtOnce, int Count>
__device__ inline void copy_rows_out(const CopiedResults& results, const float (&output)[Count],
                                     const float (&factor)[rows_a_thread], int warp, int first_row,
                                     int head, int batch) {
  constexpr int head_dim = Count * warpgroup_threads / warpgroup_rows;
  constexpr int panel_bytes = copied_rows * swizzle_row_bytes;
  static_assert(panel_bytes % swizzle_group_bytes == 0);
  constexpr int blocks_a_panel = panel_columns / 16, blocks = head_dim / 16;
  constexpr int panels = (blocks + blocks_a_panel - 1) / blocks_a_panel;
  const int lane = threadIdx.x % 32;
  const bool leads = lane == 0;
  const uint32_t tile = results.tile + warp * (AtOnce * panel_bytes);
  const int row = lane % 16;
  const uint32_t tile_of_row = tile + row * swizzle_row_bytes;
  const uint32_t chunk = uint32_t(lane / 16) ^ uint32_t(row % 8);
#pragma unroll
  for (int first_panel = 0; first_panel < panels; first_panel += AtOnce) {
    if (leads) wait_until_read();
    __syncwarp();
    const int end_panel = first_panel + AtOnce < panels ? first_panel + AtOnce : panels;
#pragma unroll
    for (int block = first_panel * blocks_a_panel;
         block < blocks && block < end_panel * blocks_a_panel; ++block) {
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int first = 8 * block + 2 * i;
        words[i] = TensorCore<Element>::pack(output[first] * factor[row_half(first)],
                                             output[first + 1] * factor[row_half(first)]);
      }
      const uint32_t panel = tile_of_row + (block / blocks_a_panel - first_panel) * panel_bytes;
      store_matrices(panel + (chunk ^ uint32_t(block % blocks_a_panel * 2)) * 16, words);
    }
    fence_before_copies();
    __syncwarp();
    if (!leads) continue;
#pragma unroll
    for (int panel = first_panel; panel < end_panel; ++panel)
      store_panel(results.o, tile + (panel - first_panel) * panel_bytes, panel * panel_columns,
                  first_row, head, batch);
    commit_copies();
  }
}

}  // namespace sawtooth::kernels::hopper
