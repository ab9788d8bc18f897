#include "kernels/mma/combine.hpp"
#include "kernels/mma/element.cuh"
#include "kernels/mma/online_softmax.cuh"

namespace sawtooth::kernels {
namespace {

constexpr int combine_threads = 128;
constexpr int combine_warps = combine_threads / 32;

/// A warp a row: O = sum of w_p O_p / sum of w_p with w_p = exp(lse_p - largest).
template <class Element>
__global__ void combine_kernel(const __grid_constant__ ForwardArguments arguments) {
  const Problem& problem = arguments.problem;
  const int64_t parts = arguments.schedule.kv_split;
  const int64_t rows = problem.batch * problem.heads * problem.seq_q;
  const int64_t flat_row = int64_t(blockIdx.x) * combine_warps + threadIdx.x / 32;
  if (flat_row >= rows) return;
  const int lane = threadIdx.x % 32;
  const int64_t flat_head = flat_row / problem.seq_q;
  const int64_t row = flat_row % problem.seq_q;
  const auto part_row = [&](int64_t part) {
    return (flat_head * parts + part) * problem.seq_q + row;
  };

  float largest = minus_infinity;
  bool seen = false;  // a key, or NaN, which the maximum drops and the sum keeps
  for (int64_t part = 0; part < parts; ++part) {
    const float lse = arguments.partial_lse[part_row(part)];
    largest = fmaxf(largest, lse);
    seen |= lse != minus_infinity;
  }
  float sum = 0;
  for (int64_t part = 0; part < parts && seen; ++part)
    sum += expf(arguments.partial_lse[part_row(part)] - largest);

  Element* to =
      static_cast<Element*>(arguments.o) +
      arguments.o_strides.offset(flat_head / problem.heads, flat_head % problem.heads, row);
  for (int d = lane; d < problem.head_dim; d += 32) {
    float value = 0;
    for (int64_t part = 0; part < parts && seen; ++part)
      value += expf(arguments.partial_lse[part_row(part)] - largest) *
               arguments.partial_o[part_row(part) * problem.head_dim + d];
    to[d] = rounded<Element>(seen ? value / sum : 0.0f);
  }
  if (lane == 0 && arguments.lse != nullptr)
    arguments.lse[flat_row] = seen ? largest + logf(sum) : minus_infinity;
}

}  // namespace

cudaError_t launch_combine(const ForwardArguments& arguments, cudaStream_t stream) {
  const Problem& problem = arguments.problem;
  const int64_t rows = problem.batch * problem.heads * problem.seq_q;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(ceil_div(rows, combine_warps)));
  config.blockDim = dim3(combine_threads);
  config.stream = stream;
  switch (problem.dtype) {
    case ElementType::bf16:
      return cudaLaunchKernelEx(&config, combine_kernel<__nv_bfloat16>, arguments);
    case ElementType::fp16:
      return cudaLaunchKernelEx(&config, combine_kernel<__half>, arguments);
    case ElementType::fp32:
      break;
  }
  return cudaLaunchKernelEx(&config, combine_kernel<float>, arguments);
}

}  // namespace sawtooth::kernels
