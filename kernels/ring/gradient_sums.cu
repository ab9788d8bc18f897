#include "kernels/common/launch.cuh"
#include "kernels/mma/element.cuh"
#include "kernels/ring/ring_attention.hpp"
#include "scheduler/integer_math.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int threads = 256;
constexpr int elements = 8;  // of a thread: two loads of the sums

template <class Element>
struct alignas(16) Chunk {
  Element element[elements];
};

template <class Element>
__global__ __launch_bounds__(threads) void add_part_kernel(
    const __grid_constant__ GradientPart arguments) {
  const int64_t chunks_a_row = arguments.head_dim / elements;
  const int64_t at = int64_t(blockIdx.x) * threads + threadIdx.x;
  const int64_t row = at / chunks_a_row;
  const int64_t head = row / arguments.rows.size();
  if (head >= arguments.heads) return;
  const auto part = static_cast<const Chunk<Element>*>(arguments.part)[at];
  const int64_t sum_row =
      head * arguments.head_rows + arguments.rows.begin + row % arguments.rows.size();
  const int64_t to = sum_row * chunks_a_row + at % chunks_a_row;
  auto* const sums = reinterpret_cast<float4*>(arguments.sums) + 2 * to;
  Chunk<Element> total;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float4 sum = arguments.begins ? make_float4(0, 0, 0, 0) : sums[half];
    const Element* const added = part.element + 4 * half;
    sum.x += widened(added[0]);
    sum.y += widened(added[1]);
    sum.z += widened(added[2]);
    sum.w += widened(added[3]);
    sums[half] = sum;
    Element* const rounded_sum = total.element + 4 * half;
    rounded_sum[0] = rounded<Element>(sum.x);
    rounded_sum[1] = rounded<Element>(sum.y);
    rounded_sum[2] = rounded<Element>(sum.z);
    rounded_sum[3] = rounded<Element>(sum.w);
  }
  if (arguments.total != nullptr) static_cast<Chunk<Element>*>(arguments.total)[to] = total;
}

}  // namespace

void add_gradient_part(const GradientPart& part, cudaStream_t stream) {
  const int64_t chunks = part.heads * part.rows.size() * part.head_dim / elements;
  const LaunchShape shape{dim3(unsigned(ceil_div(chunks, threads))), dim3(threads), 0, stream};
  switch (part.dtype) {
    case ElementType::bf16:
      return launch_kernel(shape, add_part_kernel<__nv_bfloat16>, part);
    case ElementType::fp16:
      return launch_kernel(shape, add_part_kernel<__half>, part);
    default:  // fp32
      return launch_kernel(shape, add_part_kernel<float>, part);
  }
}

}  // namespace sawtooth::kernels
