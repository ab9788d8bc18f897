#include "tests/kernels/device_attention.hpp"

#include <cstring>
#include <random>
#include <stdexcept>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/common/cuda_check.hpp"
#include "kernels/common/device_buffer.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t guard_elements = 256;  // poisoned memory on both sides of O
constexpr uint16_t poison = 0xffff;      // NaN in bf16 and in fp16
constexpr int poison_byte = 0xff;        // and in float

uint16_t encode(float value, ElementType dtype) {
  uint16_t bits = 0;
  if (dtype == ElementType::bf16) {
    const __nv_bfloat16 element = __float2bfloat16_rn(value);
    std::memcpy(&bits, &element, sizeof bits);
  } else {
    const __half element = __float2half_rn(value);
    std::memcpy(&bits, &element, sizeof bits);
  }
  return bits;
}

float decode(uint16_t bits, ElementType dtype) {
  if (dtype == ElementType::bf16) return __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits}));
  return __half2float(__half(__half_raw{bits}));
}

struct Shape {
  int64_t batch, heads, length, head_dim;
};

struct Placement {
  Strides strides;
  int64_t elements = 0;  // from the first to the last, inclusive
};

Placement place(const Shape& shape, Layout layout) {
  constexpr int64_t row_gap = 8, head_gap = 24, batch_gap = 40;  // multiples of 8 elements
  Strides strides = contiguous_strides(shape.heads, shape.length, shape.head_dim);
  if (layout == Layout::length_first)
    strides = {shape.length * shape.heads * shape.head_dim, shape.head_dim,
               shape.heads * shape.head_dim};
  if (layout == Layout::padded) {
    strides.row = shape.head_dim + row_gap;
    strides.head = shape.length * strides.row + head_gap;
    strides.batch = shape.heads * strides.head + batch_gap;
  }
  return {strides,
          strides.offset(shape.batch - 1, shape.heads - 1, shape.length - 1) + shape.head_dim};
}

/// Calls visit(offset in the placement, index in the contiguous array) for every element.
template <class Visit>
void for_each_element(const Shape& shape, const Strides& strides, Visit visit) {
  int64_t index = 0;
  for (int64_t batch = 0; batch < shape.batch; ++batch)
    for (int64_t head = 0; head < shape.heads; ++head)
      for (int64_t row = 0; row < shape.length; ++row)
        for (int64_t d = 0; d < shape.head_dim; ++d)
          visit(strides.offset(batch, head, row) + d, index++);
}

/// The tensor in device memory with a guard zone of poison on both sides.
struct DeviceTensor {
  Placement placement;
  std::vector<uint16_t> host;
  DeviceBuffer device;

  DeviceTensor(const Shape& shape, Layout layout, const std::vector<float>* data, ElementType dtype)
      : placement(place(shape, layout)),
        host(size_t(placement.elements + 2 * guard_elements), poison),
        device(int64_t(host.size() * sizeof(uint16_t))) {
    if (data != nullptr)
      for_each_element(shape, placement.strides, [&](int64_t at, int64_t index) {
        host[size_t(guard_elements + at)] = encode((*data)[size_t(index)], dtype);
      });
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(device.as(), host.data(), host.size() * sizeof(uint16_t),
                                   cudaMemcpyHostToDevice));
  }
  uint16_t* data() const { return device.as<uint16_t>() + guard_elements; }
};

}  // namespace

AttentionInputs random_inputs(const Problem& problem, uint64_t seed, float spread) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  const auto fill = [&](int64_t elements) {
    std::vector<float> values(static_cast<size_t>(elements));
    for (float& value : values)
      value = decode(encode(normal(generator), problem.dtype), problem.dtype);
    return values;
  };
  const int64_t q_elements = problem.batch * problem.heads * problem.seq_q * problem.head_dim;
  const int64_t kv_elements = problem.batch * problem.kv_heads * problem.seq_kv * problem.head_dim;
  return {fill(q_elements), fill(kv_elements), fill(kv_elements)};
}

AttentionResults run_attention(AttentionForward call, const AttentionInputs& inputs, Layout layout,
                               bool with_trace, const DeviceBuffer* workspace) {
  const Problem& problem = call.problem;
  const Shape q_shape{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const Shape kv_shape{problem.batch, problem.kv_heads, problem.seq_kv, problem.head_dim};
  const DeviceTensor q(q_shape, layout, &inputs.q, problem.dtype);
  const DeviceTensor k(kv_shape, layout, &inputs.k, problem.dtype);
  const DeviceTensor v(kv_shape, layout, &inputs.v, problem.dtype);
  DeviceTensor o(q_shape, layout, nullptr, problem.dtype);
  const int64_t rows = problem.batch * problem.heads * problem.seq_q;
  const DeviceBuffer lse(rows * int64_t(sizeof(float)));
  SAWTOOTH_CUDA_CHECK(cudaMemset(lse.as(), poison_byte, size_t(lse.bytes())));
  call.q = q.data();
  call.k = k.data();
  call.v = v.data();
  call.o = o.data();
  call.lse = lse.as<float>();
  call.q_strides = q.placement.strides;
  call.k_strides = k.placement.strides;
  call.v_strides = v.placement.strides;
  call.o_strides = o.placement.strides;

  AttentionResults results;
  DeviceBuffer items, steps;
  if (with_trace) {
    const KernelVariant* variant =
        find_variant(problem.head_dim, problem.dtype, call.tiling, call.family);
    if (variant == nullptr) throw std::runtime_error("no such kernel variant");
    const int64_t count = item_count(problem, variant->tiling, call.schedule);
    results.steps_per_item = kv_tiles(problem, variant->tiling);
    results.items.resize(size_t(count));
    results.steps.resize(size_t(count * results.steps_per_item));
    items = DeviceBuffer(count * int64_t(sizeof(ItemRecord)));
    steps = DeviceBuffer(count * results.steps_per_item * int64_t(sizeof(StepRecord)));
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(items.as(), results.items.data(), size_t(items.bytes()),
                                   cudaMemcpyHostToDevice));
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(steps.as(), results.steps.data(), size_t(steps.bytes()),
                                   cudaMemcpyHostToDevice));
    call.trace = {items.as<ItemRecord>(), steps.as<StepRecord>(), results.steps_per_item};
  }

  DeviceBuffer own;
  if (workspace == nullptr) {
    own = DeviceBuffer(int64_t(workspace_bytes(call)));
    SAWTOOTH_CUDA_CHECK(cudaMemset(own.as(), poison_byte, size_t(own.bytes())));
    workspace = &own;
  }
  const Outcome outcome =
      attention_forward(call, workspace->as(), size_t(workspace->bytes()), nullptr);
  if (!outcome) throw std::runtime_error(outcome.message);
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());

  SAWTOOTH_CUDA_CHECK(cudaMemcpy(o.host.data(), o.device.as(), o.host.size() * sizeof(uint16_t),
                                 cudaMemcpyDeviceToHost));
  results.lse.resize(size_t(rows));
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(results.lse.data(), lse.as(), size_t(lse.bytes()), cudaMemcpyDeviceToHost));
  results.o.resize(size_t(rows * problem.head_dim));
  for_each_element(q_shape, o.placement.strides, [&](int64_t at, int64_t index) {
    uint16_t& element = o.host[size_t(guard_elements + at)];
    results.o[size_t(index)] = decode(element, problem.dtype);
    element = poison;
  });
  for (const uint16_t element : o.host) results.gaps_untouched &= element == poison;
  if (with_trace) {
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(results.items.data(), items.as(), size_t(items.bytes()),
                                   cudaMemcpyDeviceToHost));
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(results.steps.data(), steps.as(), size_t(steps.bytes()),
                                   cudaMemcpyDeviceToHost));
  }
  return results;
}

bool device_available(std::string& reason) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return true;
  reason = std::string("no CUDA device: ") + cudaGetErrorString(error);
  return false;
}

}  // namespace sawtooth::kernels
