#include "experiments/sawtooth/measure/attention_tensors.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/common/cuda_check.hpp"
#include "scheduler/permutation.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::DeviceBuffer;

constexpr uint64_t data_seed = 20250521;
/// Values are drawn for so many elements and repeated from there on: drawing gigabytes on a CPU
/// would take longer than all launches. No multiple of a row, so that repeated rows differ.
constexpr int64_t drawn_elements = (int64_t{1} << 24) - 24;

/// 16-bit floats of random sign and mantissa with magnitudes from 1/4 to 2. (Zeros would let the
/// chip run faster than any real data.)
uint16_t random_value(ElementType dtype, uint64_t stream, size_t i) {
  constexpr uint16_t one_bf16 = 0x3f80, one_fp16 = 0x3c00;
  constexpr int mantissa_bf16 = 7, mantissa_fp16 = 10;
  const bool bf16 = dtype == ElementType::bf16;
  const int mantissa = bf16 ? mantissa_bf16 : mantissa_fp16;
  const uint16_t one = bf16 ? one_bf16 : one_fp16;
  const auto fraction_mask = uint16_t((1 << mantissa) - 1);
  const uint64_t word = mix_seed(mix_seed(data_seed, stream), i);
  const auto exponent_down = uint16_t(((word >> 20) % 3) << mantissa);
  return uint16_t((word & 0x8000u) | (uint16_t(one - exponent_down) & ~fraction_mask) |
                  ((word >> 32) & fraction_mask));
}

/// At least `count` values of a stream, kept: every repetition fills new buffers with the same
/// ones.
const std::vector<uint16_t>& random_values(int64_t count, ElementType dtype, uint64_t stream) {
  static std::map<std::pair<ElementType, uint64_t>, std::vector<uint16_t>> drawn;
  std::vector<uint16_t>& values = drawn[{dtype, stream}];
  values.reserve(static_cast<size_t>(count));
  while (int64_t(values.size()) < count)
    values.push_back(random_value(dtype, stream, values.size()));
  return values;
}

DeviceBuffer random_tensor(int64_t bytes, ElementType dtype, uint64_t stream) {
  const int64_t drawn = std::min(bytes / int64_t(sizeof(uint16_t)), drawn_elements);
  const std::vector<uint16_t>& values = random_values(drawn, dtype, stream);
  const auto drawn_bytes = drawn * int64_t(sizeof(uint16_t));
  DeviceBuffer buffer(bytes);
  char* to = buffer.as<char>();
  for (int64_t at = 0; at < bytes; at += drawn_bytes) {
    const auto part = size_t(std::min(drawn_bytes, bytes - at));
    if (at == 0)
      SAWTOOTH_CUDA_CHECK(cudaMemcpy(to, values.data(), part, cudaMemcpyHostToDevice));
    else
      SAWTOOTH_CUDA_CHECK(cudaMemcpy(to + at, to, part, cudaMemcpyDeviceToDevice));
  }
  return buffer;
}

/// Memory that keeps the next buffer off the pages it would get. None for placement 0.
DeviceBuffer gap(uint64_t placement, uint64_t tensor) {
  if (placement == 0) return {};
  constexpr int64_t page_bytes = 2 << 20;  // of device memory
  constexpr int64_t most_pages = 1024;     // 2 GiB before a tensor: far over any L2
  constexpr int64_t share_of_free = 16;    // of what is free, so that small GPUs are not filled
  size_t free_bytes = 0, all_bytes = 0;
  SAWTOOTH_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  const int64_t pages =
      std::clamp(int64_t(free_bytes) / share_of_free / page_bytes, int64_t{1}, most_pages);
  const auto drawn = int64_t(mix_seed(mix_seed(data_seed, placement), tensor) % uint64_t(pages));
  return DeviceBuffer((1 + drawn) * page_bytes);
}

int64_t q_bytes(const Problem& problem) {
  return problem.batch * problem.heads * problem.seq_q * problem.row_bytes();
}

}  // namespace

AttentionTensors::AttentionTensors(const Problem& problem, uint64_t placement, int64_t kv_rows) {
  const int64_t kv_bytes = problem.kv_heads * problem.row_bytes() *
                           (kv_rows > 0 ? kv_rows : problem.batch * problem.seq_kv);
  std::array<DeviceBuffer, 8> gaps;  // kept until all tensors have their pages
  gaps[0] = gap(placement, 0);
  q = random_tensor(q_bytes(problem), problem.dtype, 0);
  gaps[1] = gap(placement, 1);
  k = random_tensor(kv_bytes, problem.dtype, 1);
  gaps[2] = gap(placement, 2);
  v = random_tensor(kv_bytes, problem.dtype, 2);
  gaps[3] = gap(placement, 3);
  o = DeviceBuffer(q_bytes(problem));
  if (problem.pass == Pass::forward) return;
  gaps[4] = gap(placement, 4);
  d_o = random_tensor(q_bytes(problem), problem.dtype, 3);
  gaps[5] = gap(placement, 5);
  dk = DeviceBuffer(kv_bytes);
  gaps[6] = gap(placement, 6);
  dv = DeviceBuffer(kv_bytes);
  gaps[7] = gap(placement, 7);
  dq = DeviceBuffer(q_bytes(problem));
  lse = DeviceBuffer(problem.batch * problem.heads * problem.seq_q * int64_t(sizeof(float)));
}

std::shared_ptr<const AttentionTensors> tensors_of(const Point& point, uint64_t placement) {
  const Pages& pages = point.request.sequences.pages;
  return std::make_shared<const AttentionTensors>(point.request.problem, placement,
                                                  pages.count * pages.rows);
}

}  // namespace sawtooth::experiments
