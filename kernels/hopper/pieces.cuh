// The pieces of an item of the last wave (scheduler/last_wave.hpp), made whole again: every piece
// leaves its accumulators, as its threads hold them, in global memory; the warp that comes last
// reads those of all pieces, in their order so that the result does not depend on who was last.
#pragma once

#include <cstdint>

#include "kernels/hopper/shape.hpp"
#include "kernels/hopper/softmax.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels::hopper {

template <class Shape>
class PieceStore {
  static constexpr int threads = Shape::consumers * warpgroup_threads;
  static constexpr int output_chunks = accumulators(Shape::head_dim_v) / 4;
  static constexpr int chunks = output_chunks + 1;  // and the rows' maxima and sums
  using Output = float[accumulators(Shape::head_dim_v)];

 public:
  /// The item's first piece is number `first`; `thread` counts the consumers' threads.
  __device__ PieceStore(const ForwardArguments& arguments, int first, int thread)
      : arguments_(arguments), first_(first), thread_(thread) {}

  /// Leaves piece `own` of `count`; true for the warps that come last, which then hold the whole.
  __device__ bool merge(int own, int count, Output& output, RowSoftmax& softmax) const {
    leave(own, output, softmax);
    if (!comes_last(count)) return false;
    __threadfence();
#pragma unroll
    for (float& value : output) value = 0;
    softmax = {};
    for (int piece = first_; piece < first_ + count; ++piece) add(piece, output, softmax);
    return true;
  }

 private:
  __device__ void leave(int piece, const Output& output, const RowSoftmax& softmax) const {
    float4* const to = chunks_of(piece);
#pragma unroll
    for (int i = 0; i < output_chunks; ++i) {
      __stcg(to + i * threads,
             make_float4(output[4 * i], output[4 * i + 1], output[4 * i + 2], output[4 * i + 3]));
    }
    __stcg(to + output_chunks * threads,
           make_float4(softmax.max[0], softmax.max[1], softmax.sum[0], softmax.sum[1]));
    __threadfence();
    __syncwarp();
  }

  /// Whether all other pieces of these rows were left before. The count goes back to zero, for the
  /// next launch.
  __device__ bool comes_last(int count) const {
    constexpr int warps = threads / 32;
    unsigned* const arrivals = arguments_.piece_arrivals + first_ * warps + thread_ / 32;
    int last = 0;
    if (thread_ % 32 == 0) {
      last = int(atomicAdd(arrivals, 1u)) + 1 == count;
      if (last) *arrivals = 0;
    }
    return __shfl_sync(0xffffffff, last, 0) != 0;
  }

  /// Sums of both at the greater maximum. A piece may have seen no key of a row.
  __device__ void add(int piece, Output& output, RowSoftmax& softmax) const {
    const float4* const from = chunks_of(piece);
    const float4 rows = __ldcg(from + output_chunks * threads);
    const float max[rows_a_thread] = {rows.x, rows.y};
    const float sum[rows_a_thread] = {rows.z, rows.w};
    float old_factor[rows_a_thread];
    float new_factor[rows_a_thread];
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      const float top = fmaxf(softmax.max[half], max[half]);
      const float safe = top == -INFINITY ? 0 : top;
      old_factor[half] = exp2_approximate((softmax.max[half] - safe) * arguments_.scale_log2);
      new_factor[half] = exp2_approximate((max[half] - safe) * arguments_.scale_log2);
      softmax.max[half] = top;
      softmax.sum[half] = softmax.sum[half] * old_factor[half] + sum[half] * new_factor[half];
    }
#pragma unroll
    for (int i = 0; i < output_chunks; ++i) {
      const float4 chunk = __ldcg(from + i * threads);
      const float values[] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int half = row_half(4 * i + j);
        output[4 * i + j] = output[4 * i + j] * old_factor[half] + values[j] * new_factor[half];
      }
    }
  }

  /// This thread's first chunk; the next ones follow at a distance of all threads.
  __device__ float4* chunks_of(int piece) const {
    return reinterpret_cast<float4*>(arguments_.pieces) + int64_t(piece) * chunks * threads +
           thread_;
  }

  const ForwardArguments& arguments_;
  int first_;
  int thread_;
};

}  // namespace sawtooth::kernels::hopper
