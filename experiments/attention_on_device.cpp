#include "experiments/attention_on_device.hpp"

#include <memory>
#include <stdexcept>

#include <cuda_runtime_api.h>

#include "experiments/usage_error.hpp"
#include "kernels/cuda_check.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::DeviceBuffer;
using kernels::Eviction;
using kernels::Status;

Eviction eviction_named(const std::string& hints, char tensor) {
  const auto at = hints.find(std::string(1, tensor) + "-");
  if (at == std::string::npos) return Eviction::normal;
  return hints.compare(at + 2, 5, "first") == 0 ? Eviction::first : Eviction::last;
}

const char* key_of(Status status) {
  switch (status) {
    case Status::unsupported_head_dim:
      return "head-dim";
    case Status::unsupported_type:
      return "dtype";
    case Status::unsupported_tiling:
      return "tile-q, tile-kv";
    default:
      return "kernel";
  }
}

void require_matching_gpu(const Point& point) {
  int sms = 0, device = 0;
  SAWTOOTH_CUDA_CHECK(cudaGetDevice(&device));
  SAWTOOTH_CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  if (point.gpu.sms > 0 && point.gpu.sms != sms)
    throw UsageError("gpu: profile " + point.text("gpu") + " has " + std::to_string(point.gpu.sms) +
                     " SMs, this GPU has " + std::to_string(sms) +
                     "; name the profile of this GPU (see `sawtooth gpus`)");
}

}  // namespace

kernels::AttentionForward attention_call(const Point& point) {
  kernels::AttentionForward call;
  call.problem = point.request.problem;
  call.schedule = point.request.schedule;
  call.tiling = point.request.tiling;
  for (const std::string_view family : {"mma", "hopper"})
    if (point.text("kernel") == family) call.family = family;
  call.ctas_per_sm = int(std::stoll(point.text("ctas-per-sm")));
  const std::string hints = point.text("hints");
  call.hints = {eviction_named(hints, 'q'), eviction_named(hints, 'k'), eviction_named(hints, 'v')};
  // Addresses that pass the check; the tensors follow when there is a device.
  alignas(16) static char place_holder[16];
  kernels::AttentionForward trial = call;
  trial.q = trial.k = trial.v = trial.o = place_holder;
  if (const kernels::Outcome bad = kernels::check(trial); !bad)
    throw UsageError(std::string(key_of(bad.status)) + ": " + bad.message);
  return call;
}

AttentionOnDevice::AttentionOnDevice(const Point& point,
                                     std::shared_ptr<const AttentionTensors> tensors)
    : call_(attention_call(point)), order_list_(point.order_list), tensors_(std::move(tensors)) {
  require_matching_gpu(point);
  const Problem& problem = call_.problem;
  const int64_t rows = problem.batch * problem.heads * problem.seq_q;
  if (tensors_ == nullptr) tensors_ = std::make_shared<const AttentionTensors>(problem);
  call_.q = tensors_->q.as();
  call_.k = tensors_->k.as();
  call_.v = tensors_->v.as();
  call_.o = tensors_->o.as();
  if (point.request.log_sum_exp) {
    lse_ = DeviceBuffer(rows * int64_t(sizeof(float)));
    call_.lse = lse_.as<float>();
  }
  if (order_list_ != nullptr) {
    const auto bytes = int64_t(order_list_->size() * sizeof(WorkCoordinates));
    order_ = DeviceBuffer(bytes);
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(order_.as(), order_list_->data(), size_t(bytes), cudaMemcpyHostToDevice));
    call_.schedule.order.list = order_.as<WorkCoordinates>();
  }
  workspace_ = DeviceBuffer(int64_t(kernels::workspace_bytes(call_)));
}

void AttentionOnDevice::launch() {
  const kernels::Outcome outcome =
      kernels::attention_forward(call_, workspace_.as(), size_t(workspace_.bytes()), nullptr);
  if (!outcome) throw std::runtime_error(outcome.message);
}

double AttentionOnDevice::time_us(int launches, bool behind_another) {
  constexpr double us_per_ms = 1000;
  cudaEvent_t start, stop;
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&start));
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&stop));
  if (behind_another) launch();
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(start));
  for (int i = 0; i < launches; ++i) launch();
  SAWTOOTH_CUDA_CHECK(cudaEventRecord(stop));
  SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(stop));
  float ms = 0;
  SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
  SAWTOOTH_CUDA_CHECK(cudaEventDestroy(start));
  SAWTOOTH_CUDA_CHECK(cudaEventDestroy(stop));
  return double(ms) * us_per_ms / launches;
}

}  // namespace sawtooth::experiments
