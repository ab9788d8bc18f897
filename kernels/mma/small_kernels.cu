#include "kernels/hopper/backward/shape.hpp"
#include "kernels/mma/element.cuh"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/shared_tile.hpp"
#include "kernels/mma/small_kernels.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int small_threads = 256;
constexpr float log2_of_e = 1.4426950408889634f;

/// What a thread works on: `chunk_elements` of a row. The threads of a row are neighbours in a
/// warp, their number is a power of two.
struct Place {
  int64_t flat_head;
  int64_t row;
  int chunk;
};

/// Lanes that sum up a row, of which shuffles want a power of two: more than chunks at head dim 96.
__host__ __device__ constexpr int lanes_a_row(int64_t head_dim) {
  int lanes = 1;
  while (lanes * chunk_elements < head_dim) lanes *= 2;
  return lanes;
}

__device__ Place place_of(int chunks, int64_t rows_a_head) {
  const int64_t thread = int64_t(blockIdx.x) * small_threads + threadIdx.x;
  const int64_t flat_row = thread / chunks;
  return {flat_row / rows_a_head, flat_row % rows_a_head, int(thread % chunks)};
}

template <class Element>
struct Chunk {
  alignas(chunk_bytes) Element element[chunk_elements];
};

template <class Element>
__device__ Chunk<Element> load_chunk(const void* tensor, int64_t element) {
  return *reinterpret_cast<const Chunk<Element>*>(static_cast<const Element*>(tensor) + element);
}

template <class Element>
__global__ __launch_bounds__(small_threads) void row_sums_kernel(
    const __grid_constant__ BackwardArguments arguments) {
  const Problem& problem = arguments.problem;
  const int chunks = int(problem.head_dim) / chunk_elements;
  const int lanes = lanes_a_row(problem.head_dim);
  const Place place = place_of(lanes, arguments.padded_rows());
  // Threads of a warp stay together for the shuffles.
  const bool exists = place.flat_head < problem.batch * problem.heads && place.row < problem.seq_q;
  const bool has_chunk = place.chunk < chunks;
  float sum = 0;
  if (exists && has_chunk) {
    const int64_t batch = place.flat_head / problem.heads;
    const int64_t head = place.flat_head % problem.heads;
    const int64_t column = place.chunk * chunk_elements;
    const auto o = load_chunk<Element>(arguments.o,
                                       arguments.o_strides.offset(batch, head, place.row) + column);
    const auto d_o = load_chunk<Element>(
        arguments.d_o, arguments.d_o_strides.offset(batch, head, place.row) + column);
#pragma unroll
    for (int i = 0; i < chunk_elements; ++i) sum += widened(o.element[i]) * widened(d_o.element[i]);
  }
  if (arguments.dq_sums != nullptr && has_chunk &&
      place.flat_head < problem.batch * problem.heads && place.row < arguments.dq_rows()) {
    auto* dq = reinterpret_cast<float4*>(
        arguments.dq_sums + (place.flat_head * arguments.dq_rows() + place.row) * problem.head_dim +
        place.chunk * chunk_elements);
    dq[0] = dq[1] = make_float4(0, 0, 0, 0);
  }
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(whole_warp, sum, distance);
  if (place.chunk != 0 || place.flat_head >= problem.batch * problem.heads) return;
  const int64_t at = place.flat_head * arguments.padded_rows() + place.row;
  const float lse =
      exists ? arguments.lse[place.flat_head * problem.seq_q + place.row] : minus_infinity;
  arguments.lse_log2[at] = lse == minus_infinity ? -minus_infinity : lse * log2_of_e;
  arguments.row_sums[at] = sum;
}

/// A thread takes sums that follow each other.
template <class Element>
__global__ __launch_bounds__(small_threads) void dq_kernel(
    const __grid_constant__ BackwardArguments arguments) {
  const Problem& problem = arguments.problem;
  const int64_t sums_a_head = arguments.dq_rows() * problem.head_dim;
  const int64_t first = (int64_t(blockIdx.x) * small_threads + threadIdx.x) * chunk_elements;
  const int64_t flat_head = first / sums_a_head;
  if (flat_head >= problem.batch * problem.heads) return;
  const DqPlace place = dq_place<Element>(first - flat_head * sums_a_head, problem.head_dim);
  if (place.row >= problem.seq_q) return;
  const auto* from = reinterpret_cast<const float4*>(arguments.dq_sums + first);
  Chunk<Element> to;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float4 four = from[i];
    to.element[4 * i] = rounded<Element>(four.x * arguments.scale);
    to.element[4 * i + 1] = rounded<Element>(four.y * arguments.scale);
    to.element[4 * i + 2] = rounded<Element>(four.z * arguments.scale);
    to.element[4 * i + 3] = rounded<Element>(four.w * arguments.scale);
  }
  const int64_t element =
      arguments.dq_strides.offset(flat_head / problem.heads, flat_head % problem.heads, place.row) +
      place.column;
  *reinterpret_cast<Chunk<Element>*>(static_cast<Element*>(arguments.dq) + element) = to;
}

/// The same of sums that lie in parts (kernels/hopper/backward/shape.hpp).
template <class Element>
__global__ __launch_bounds__(small_threads) void dq_parts_kernel(
    const __grid_constant__ BackwardArguments arguments) {
  using namespace hopper;
  const Problem& problem = arguments.problem;
  const int64_t floats_a_row = warpgroup_rows * problem.head_dim;  // of a row of parts
  const int64_t pieces_a_row = floats_a_row * dq_pieces / dq_part_floats;
  const int64_t number = int64_t(blockIdx.x) * small_threads + threadIdx.x;
  const int64_t row_of_parts = number / pieces_a_row;
  const int64_t rows_of_parts = arguments.dq_rows() / warpgroup_rows;
  const int64_t flat_head = row_of_parts / rows_of_parts;
  if (flat_head >= problem.batch * problem.heads) return;
  const int part = int(number % pieces_a_row) / dq_pieces;
  const int first_column = part * dq_part_columns;
  const DqPiece piece = dq_piece(int(number % pieces_a_row) % dq_pieces,
                                 min(dq_part_columns, int(problem.head_dim) - first_column));
  const auto* from =
      reinterpret_cast<const float4*>(arguments.dq_sums + row_of_parts * floats_a_row +
                                      part * dq_part_floats + dq_piece_offset(piece));
  Chunk<Element> to[rows_a_thread];
#pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    const float4 four = from[lane];
    to[0].element[2 * lane] = rounded<Element>(four.x * arguments.scale);
    to[0].element[2 * lane + 1] = rounded<Element>(four.y * arguments.scale);
    to[1].element[2 * lane] = rounded<Element>(four.z * arguments.scale);
    to[1].element[2 * lane + 1] = rounded<Element>(four.w * arguments.scale);
  }
  const int64_t column = first_column + piece.column_block * chunk_elements;
#pragma unroll
  for (int half = 0; half < rows_a_thread; ++half) {
    const int64_t row =
        row_of_parts % rows_of_parts * warpgroup_rows + piece.row + half * row_half_distance;
    if (row >= problem.seq_q) return;
    const int64_t element =
        arguments.dq_strides.offset(flat_head / problem.heads, flat_head % problem.heads, row) +
        column;
    *reinterpret_cast<Chunk<Element>*>(static_cast<Element*>(arguments.dq) + element) = to[half];
  }
}

/// A thread sums up the parts of a chunk of dK; those behind the first half have dV.
template <class Element>
__global__ __launch_bounds__(small_threads) void sum_parts_kernel(
    const __grid_constant__ BackwardArguments arguments) {
  const Problem& problem = arguments.problem;
  const int64_t chunks = problem.head_dim / chunk_elements;
  const int64_t chunks_a_head = problem.seq_kv * chunks;
  const int64_t all = problem.batch * problem.kv_heads * chunks_a_head;
  int64_t number = int64_t(blockIdx.x) * small_threads + threadIdx.x;
  const bool of_v = number >= all;
  if (of_v) number -= all;
  if (number >= all) return;
  const int64_t flat_head = number / chunks_a_head;
  const int64_t row = number % chunks_a_head / chunks;
  const int64_t column = number % chunks * chunk_elements;
  const int64_t parts = arguments.schedule.kv_split;
  float sums[chunk_elements] = {};
  for (int64_t part = 0; part < parts; ++part) {
    const auto from = load_chunk<Element>(
        of_v ? arguments.dv_parts : arguments.dk_parts,
        ((flat_head * parts + part) * problem.seq_kv + row) * problem.head_dim + column);
#pragma unroll
    for (int i = 0; i < chunk_elements; ++i) sums[i] += widened(from.element[i]);
  }
  Chunk<Element> to;
#pragma unroll
  for (int i = 0; i < chunk_elements; ++i) to.element[i] = rounded<Element>(sums[i]);
  const Strides& strides = of_v ? arguments.dv_strides : arguments.dk_strides;
  const int64_t element =
      strides.offset(flat_head / problem.kv_heads, flat_head % problem.kv_heads, row) + column;
  *reinterpret_cast<Chunk<Element>*>(static_cast<Element*>(of_v ? arguments.dv : arguments.dk) +
                                     element) = to;
}

using Kernel = void (*)(BackwardArguments);

cudaError_t launch(const BackwardArguments& arguments, int64_t rows, int64_t threads_a_row,
                   cudaStream_t stream, Kernel kernel) {
  const int64_t threads = rows * threads_a_row;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(ceil_div(threads, small_threads)));
  config.blockDim = dim3(small_threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

Kernel of_type(ElementType dtype, Kernel bf16, Kernel fp16, Kernel fp32) {
  switch (dtype) {
    case ElementType::bf16:
      return bf16;
    case ElementType::fp16:
      return fp16;
    default:  // fp32
      break;
  }
  return fp32;
}

}  // namespace

cudaError_t launch_row_sums(const BackwardArguments& arguments, cudaStream_t stream) {
  const Problem& problem = arguments.problem;
  const int64_t rows = problem.batch * problem.heads * arguments.padded_rows();
  return launch(arguments, rows, lanes_a_row(problem.head_dim), stream,
                of_type(problem.dtype, row_sums_kernel<__nv_bfloat16>, row_sums_kernel<__half>,
                        row_sums_kernel<float>));
}

cudaError_t launch_dq_conversion(const BackwardArguments& arguments, cudaStream_t stream) {
  const Problem& problem = arguments.problem;
  const int64_t chunks = problem.head_dim / chunk_elements;
  const int64_t rows = problem.batch * problem.heads * arguments.dq_rows();
  if (arguments.dq_in_parts)  // a thread has 16 elements; no kernel of fp32 leaves them so
    return launch(
        arguments, rows / 2, chunks, stream,
        of_type(problem.dtype, dq_parts_kernel<__nv_bfloat16>, dq_parts_kernel<__half>, nullptr));
  return launch(
      arguments, rows, chunks, stream,
      of_type(problem.dtype, dq_kernel<__nv_bfloat16>, dq_kernel<__half>, dq_kernel<float>));
}

cudaError_t launch_sums_of_parts(const BackwardArguments& arguments, cudaStream_t stream) {
  const Problem& problem = arguments.problem;
  const int64_t rows = 2 * problem.batch * problem.kv_heads * problem.seq_kv;  // of dK and of dV
  return launch(arguments, rows, problem.head_dim / chunk_elements, stream,
                of_type(problem.dtype, sum_parts_kernel<__nv_bfloat16>, sum_parts_kernel<__half>,
                        sum_parts_kernel<float>));
}

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
  for (int d = lane; d < problem.v_dim(); d += 32) {
    float value = 0;
    for (int64_t part = 0; part < parts && seen; ++part)
      value += expf(arguments.partial_lse[part_row(part)] - largest) *
               arguments.partial_o[part_row(part) * problem.v_dim() + d];
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
    default:  // fp32
      break;
  }
  return cudaLaunchKernelEx(&config, combine_kernel<float>, arguments);
}

}  // namespace sawtooth::kernels
