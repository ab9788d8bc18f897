#include "tests/kernels/device_attention.hpp"

#include <random>
#include <stdexcept>

#include "kernels/common/cuda_check.hpp"
#include "kernels/common/device_buffer.hpp"
#include "tests/kernels/device_tensor.hpp"

namespace sawtooth::kernels {

AttentionInputs random_inputs(const Problem& problem, uint64_t seed, float spread) {
  std::mt19937_64 generator(seed);
  const int64_t q_elements = problem.batch * problem.heads * problem.seq_q * problem.head_dim;
  const int64_t kv_elements = problem.batch * problem.kv_heads * problem.seq_kv * problem.head_dim;
  const auto fill = [&](int64_t elements) {
    return random_elements(elements, problem.dtype, spread, generator);
  };
  return {fill(q_elements), fill(kv_elements), fill(kv_elements)};
}

AttentionResults run_attention(AttentionForward call, const AttentionInputs& inputs, Layout layout,
                               bool with_trace, const DeviceBuffer* workspace) {
  const Problem& problem = call.problem;
  const TensorShape q_shape{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const TensorShape kv_shape{problem.batch, problem.kv_heads, problem.seq_kv, problem.head_dim};
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

  results.lse.resize(size_t(rows));
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(results.lse.data(), lse.as(), size_t(lse.bytes()), cudaMemcpyDeviceToHost));
  results.o = o.read_back(results.gaps_untouched);
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
