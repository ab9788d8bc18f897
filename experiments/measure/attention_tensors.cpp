#include "experiments/measure/attention_tensors.hpp"

#include <algorithm>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/cuda_check.hpp"
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
std::vector<uint16_t> random_values(int64_t count, ElementType dtype, uint64_t stream) {
  constexpr uint16_t one_bf16 = 0x3f80, one_fp16 = 0x3c00;
  constexpr int mantissa_bf16 = 7, mantissa_fp16 = 10;
  const bool bf16 = dtype == ElementType::bf16;
  const int mantissa = bf16 ? mantissa_bf16 : mantissa_fp16;
  const uint16_t one = bf16 ? one_bf16 : one_fp16;
  const auto fraction_mask = uint16_t((1 << mantissa) - 1);
  std::vector<uint16_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t word = mix_seed(mix_seed(data_seed, stream), i);
    const auto exponent_down = uint16_t(((word >> 20) % 3) << mantissa);
    values[i] = uint16_t((word & 0x8000u) | (uint16_t(one - exponent_down) & ~fraction_mask) |
                         ((word >> 32) & fraction_mask));
  }
  return values;
}

DeviceBuffer random_tensor(int64_t bytes, ElementType dtype, uint64_t stream) {
  const int64_t elements = bytes / int64_t(sizeof(uint16_t));
  const std::vector<uint16_t> values =
      random_values(std::min(elements, drawn_elements), dtype, stream);
  const auto drawn_bytes = int64_t(values.size() * sizeof(uint16_t));
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

int64_t q_bytes(const Problem& problem) {
  return problem.batch * problem.heads * problem.seq_q * problem.row_bytes();
}
int64_t kv_bytes(const Problem& problem) {
  return problem.batch * problem.kv_heads * problem.seq_kv * problem.row_bytes();
}

}  // namespace

AttentionTensors::AttentionTensors(const Problem& problem)
    : q(random_tensor(q_bytes(problem), problem.dtype, 0)),
      k(random_tensor(kv_bytes(problem), problem.dtype, 1)),
      v(random_tensor(kv_bytes(problem), problem.dtype, 2)),
      o(q_bytes(problem)) {}

}  // namespace sawtooth::experiments
