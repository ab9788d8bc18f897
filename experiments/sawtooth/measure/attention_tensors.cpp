#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "kernels/common/cuda_check.hpp"
#include "scheduler/permutation.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::DeviceBuffer;

constexpr uint64_t data_seed = 20250521;
/// Values are drawn for so many elements and repeated from there on: drawing gigabytes on a CPU
/// would take longer than all launches. No multiple of a row, so that repeated rows differ.
constexpr int64_t drawn_elements = (int64_t{1} << 24) - 24;

struct FloatFormat {
  uint64_t sign, one;
  int fraction_bits;
};

constexpr FloatFormat format_of(ElementType dtype) {
  if (dtype == ElementType::fp32) return {0x80000000, 0x3f800000, 23};
  return dtype == ElementType::bf16 ? FloatFormat{0x8000, 0x3f80, 7}
                                    : FloatFormat{0x8000, 0x3c00, 10};
}

/// The bits of a float of random sign and fraction with a magnitude from 1/4 to 2. (Zeros would let
/// the chip run faster than any real data.)
uint64_t random_value(ElementType dtype, uint64_t stream, size_t i) {
  const FloatFormat format = format_of(dtype);
  const uint64_t fraction_mask = (uint64_t{1} << format.fraction_bits) - 1;
  const uint64_t word = mix_seed(mix_seed(data_seed, stream), i);
  const uint64_t exponent_down = ((word >> 20) % 3) << format.fraction_bits;
  const uint64_t sign = (word & 0x8000u) != 0 ? format.sign : 0;
  return sign | (format.one - exponent_down) | ((word >> 32) & fraction_mask);
}

/// At least `count` values of a stream, kept: every repetition fills new buffers with the same
/// ones.
template <class Bits>
const std::vector<Bits>& random_values(int64_t count, ElementType dtype, uint64_t stream) {
  static std::map<std::pair<ElementType, uint64_t>, std::vector<Bits>> drawn;
  std::vector<Bits>& values = drawn[{dtype, stream}];
  values.reserve(static_cast<size_t>(count));
  while (int64_t(values.size()) < count)
    values.push_back(Bits(random_value(dtype, stream, values.size())));
  return values;
}

template <class Bits>
DeviceBuffer tensor_of_bits(int64_t bytes, ElementType dtype, uint64_t stream) {
  const int64_t drawn = std::min(bytes / int64_t(sizeof(Bits)), drawn_elements);
  const std::vector<Bits>& values = random_values<Bits>(drawn, dtype, stream);
  const auto drawn_bytes = drawn * int64_t(sizeof(Bits));
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

DeviceBuffer random_tensor(int64_t bytes, ElementType dtype, uint64_t stream) {
  return dtype == ElementType::fp32 ? tensor_of_bits<uint32_t>(bytes, dtype, stream)
                                    : tensor_of_bits<uint16_t>(bytes, dtype, stream);
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

int64_t q_rows(const Problem& problem) {
  return problem.batch * problem.heads * problem.seq_q;
}

}  // namespace

AttentionTensors::AttentionTensors(const Problem& problem, uint64_t placement, int64_t kv_rows) {
  const int64_t all_kv_rows =
      problem.kv_heads * (kv_rows > 0 ? kv_rows : problem.batch * problem.seq_kv);
  std::array<DeviceBuffer, 8> gaps;  // kept until all tensors have their pages
  gaps[0] = gap(placement, 0);
  q = random_tensor(q_rows(problem) * problem.row_bytes(), problem.dtype, 0);
  gaps[1] = gap(placement, 1);
  k = random_tensor(all_kv_rows * problem.k_row_bytes(), problem.dtype, 1);
  gaps[2] = gap(placement, 2);
  v = random_tensor(all_kv_rows * problem.v_row_bytes(), problem.dtype, 2);
  gaps[3] = gap(placement, 3);
  o = DeviceBuffer(q_rows(problem) * problem.o_row_bytes());
  if (problem.pass == Pass::forward) return;
  gaps[4] = gap(placement, 4);
  d_o = random_tensor(o.bytes(), problem.dtype, 3);
  gaps[5] = gap(placement, 5);
  dk = DeviceBuffer(k.bytes());
  gaps[6] = gap(placement, 6);
  dv = DeviceBuffer(v.bytes());
  gaps[7] = gap(placement, 7);
  dq = DeviceBuffer(q.bytes());
  lse = DeviceBuffer(q_rows(problem) * int64_t(sizeof(float)));
}

void require_launched(const kernels::Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

void run_forward(const AttentionTensors& tensors, Problem problem) {
  problem.pass = Pass::forward;
  kernels::AttentionForward forward;
  forward.problem = problem;
  give_tensors(tensors, forward);
  forward.lse = tensors.lse.as<float>();
  const DeviceBuffer workspace(int64_t(kernels::workspace_bytes(forward)));
  require_launched(
      kernels::attention_forward(forward, workspace.as(), size_t(workspace.bytes()), nullptr));
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
}

std::shared_ptr<const AttentionTensors> tensors_of(const Point& point, uint64_t placement) {
  const Pages& pages = point.request.sequences.pages;
  return std::make_shared<const AttentionTensors>(point.request.problem, placement,
                                                  pages.count * pages.rows);
}

}  // namespace sawtooth::experiments
