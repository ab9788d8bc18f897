#include "tests/kernels/device_backward.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/common/cuda_check.hpp"

namespace sawtooth::kernels {
namespace {

/// `host` in device memory; one element at least, so that there is an address.
template <class T>
DeviceBuffer copied(const std::vector<T>& host) {
  DeviceBuffer buffer(int64_t(std::max(host.size(), size_t{1}) * sizeof(T)));
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(buffer.as(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return buffer;
}

template <class T>
void read_back(std::vector<T>& host, const DeviceBuffer& buffer) {
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(host.data(), buffer.as(), host.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

}  // namespace

BackwardResults run_backward(AttentionBackward call, const BackwardInputs& inputs, Layout layout) {
  Problem& problem = call.problem;
  problem.pass = Pass::backward;
  const TensorShape q_shape{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const TensorShape kv_shape{problem.batch, problem.kv_heads, problem.seq_kv, problem.head_dim};
  const ElementType dtype = problem.dtype;
  const DeviceTensor q(q_shape, layout, &inputs.forward.q, dtype);
  const DeviceTensor k(kv_shape, layout, &inputs.forward.k, dtype);
  const DeviceTensor v(kv_shape, layout, &inputs.forward.v, dtype);
  const DeviceTensor o(q_shape, layout, &inputs.o, dtype);
  const DeviceTensor d_o(q_shape, layout, &inputs.d_o, dtype);
  DeviceTensor dq(q_shape, layout, nullptr, dtype);
  DeviceTensor dk(kv_shape, layout, nullptr, dtype);
  DeviceTensor dv(kv_shape, layout, nullptr, dtype);
  const DeviceBuffer lse = copied(inputs.lse);
  call.q = q.data();
  call.k = k.data();
  call.v = v.data();
  call.o = o.data();
  call.d_o = d_o.data();
  call.lse = lse.as<float>();
  call.dq = dq.data();
  call.dk = dk.data();
  call.dv = dv.data();
  call.q_strides = call.o_strides = call.d_o_strides = call.dq_strides = q.placement.strides;
  call.k_strides = call.v_strides = call.dk_strides = call.dv_strides = k.placement.strides;

  BackwardResults results;
  const KernelVariant* variant =
      find_variant(problem.head_dim, dtype, call.tiling, call.family, Pass::backward);
  if (variant == nullptr) throw std::runtime_error("no such kernel variant");
  const int64_t count = item_count(problem, variant->tiling, call.schedule);
  results.steps_per_item = q_tiles(problem, variant->tiling) * problem.heads_per_kv_head();
  results.items.resize(size_t(count));
  results.steps.resize(size_t(count * results.steps_per_item));
  const DeviceBuffer items = copied(results.items), steps = copied(results.steps);
  call.trace = {items.as<ItemRecord>(), steps.as<StepRecord>(), results.steps_per_item};

  const DeviceBuffer workspace(int64_t(workspace_bytes(call)));
  SAWTOOTH_CUDA_CHECK(cudaMemset(workspace.as(), poison_byte, size_t(workspace.bytes())));
  const Outcome outcome =
      attention_backward(call, workspace.as(), size_t(workspace.bytes()), nullptr);
  if (!outcome) throw std::runtime_error(outcome.message);
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  results.dq = dq.read_back(results.gaps_untouched);
  results.dk = dk.read_back(results.gaps_untouched);
  results.dv = dv.read_back(results.gaps_untouched);
  read_back(results.items, items);
  read_back(results.steps, steps);
  return results;
}

}  // namespace sawtooth::kernels
