#include "experiments/sawtooth/measure/attention_on_device.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <cuda_runtime_api.h>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/common/cuda_check.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::DeviceBuffer;
using kernels::Eviction;
using kernels::Status;

Eviction eviction(sim::Priority priority) {
  switch (priority) {
    case sim::Priority::evict_first:
      return Eviction::first;
    case sim::Priority::evict_last:
      return Eviction::last;
    case sim::Priority::normal:
      break;
  }
  return Eviction::normal;
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
    throw UsageError("gpu: profile " + point.keys.gpu + " has " + std::to_string(point.gpu.sms) +
                     " SMs, this GPU has " + std::to_string(sms) +
                     "; name the profile of this GPU (see `sawtooth gpus`)");
}

}  // namespace

kernels::AttentionForward attention_call(const Point& point) {
  if (point.request.problem.pass == Pass::backward)
    throw UsageError("pass: no kernel of this build computes backward; allowed: forward");
  if (point.keys.pack_gqa)
    throw UsageError("pack-gqa: no kernel of this build packs the heads of a group; allowed: off");
  if (point.keys.has_lengths())
    throw UsageError(std::string(point.keys.lengths.empty() ? "q-lengths" : "lengths") +
                     ": no kernel of this build takes sequences of different lengths; allowed: "
                     "seq-q, seq-kv");
  kernels::AttentionForward call;
  call.problem = point.request.problem;
  call.schedule = point.request.schedule;
  call.tiling = point.request.tiling;
  for (const kernels::KernelVariant& variant : kernels::kernel_variants())
    if (point.keys.kernel == variant.family) call.family = variant.family;
  if (call.family.empty() && !point.keys.kernel.empty())
    throw UsageError("kernel: this build has no " + point.keys.kernel +
                     " kernels; see `sawtooth schedules --kernels`");
  // Without a name the first of the table that has the tile: the same kernel on every device.
  if (call.family.empty())
    if (const auto* variant =
            kernels::find_variant(call.problem.head_dim, call.problem.dtype, call.tiling))
      call.family = variant->family;
  call.ctas_per_sm = int(point.keys.ctas_per_sm);
  const Hints hints = point.keys.hints.value_or(Hints{});
  call.hints = {eviction(hints.q), eviction(hints.k), eviction(hints.v)};
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
  SAWTOOTH_CUDA_CHECK(cudaMemset(workspace_.as(), 0, size_t(workspace_.bytes())));
  call_.workspace_starts_zero = true;
}

void AttentionOnDevice::launch() {
  const kernels::Outcome outcome =
      kernels::attention_forward(call_, workspace_.as(), size_t(workspace_.bytes()), nullptr);
  if (!outcome) throw std::runtime_error(outcome.message);
}

double AttentionOnDevice::time_us(int launches, bool behind_another,
                                  const std::function<void()>& before) {
  constexpr double us_per_ms = 1000;
  cudaEvent_t start, stop;
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&start));
  SAWTOOTH_CUDA_CHECK(cudaEventCreate(&stop));
  if (behind_another) launch();
  if (before) before();
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

Tiling AttentionOnDevice::tiling() const {
  return kernels::find_variant(call_.problem.head_dim, call_.problem.dtype, call_.tiling,
                               call_.family)
      ->tiling;
}

void AttentionOnDevice::launch_recorded(std::vector<kernels::ItemRecord>& items,
                                        std::vector<kernels::StepRecord>& steps) {
  const auto item_bytes = int64_t(items.size() * sizeof items[0]);
  const auto step_bytes = int64_t(steps.size() * sizeof steps[0]);
  const DeviceBuffer item_buffer(item_bytes), step_buffer(step_bytes);
  const auto copy = [](void* to, const void* from, int64_t bytes) {
    if (bytes > 0) SAWTOOTH_CUDA_CHECK(cudaMemcpy(to, from, size_t(bytes), cudaMemcpyDefault));
  };
  copy(item_buffer.as(), items.data(), item_bytes);
  copy(step_buffer.as(), steps.data(), step_bytes);
  call_.trace = {item_buffer.as<kernels::ItemRecord>(),
                 steps.empty() ? nullptr : step_buffer.as<kernels::StepRecord>(),
                 kv_tiles(call_.problem, tiling())};
  launch();
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  call_.trace = {};
  copy(items.data(), item_buffer.as(), item_bytes);
  copy(steps.data(), step_buffer.as(), step_bytes);
}

std::vector<RecordedItem> AttentionOnDevice::record_items() {
  const int64_t items = item_count(call_.problem, tiling(), call_.schedule);
  std::vector<kernels::ItemRecord> records(static_cast<size_t>(items));
  std::vector<kernels::StepRecord> no_steps;
  launch_recorded(records, no_steps);
  uint64_t first_ns = ~uint64_t{0};
  for (const kernels::ItemRecord& record : records)
    if (record.times_started > 0) first_ns = std::min(first_ns, record.start_ns);
  std::vector<RecordedItem> recorded;
  for (int64_t index = 0; index < items; ++index) {
    const kernels::ItemRecord& record = records[size_t(index)];
    if (record.times_started == 0) continue;
    recorded.push_back({.worker = record.worker,
                        .items_before = record.items_before,
                        .item = index,
                        .steps = record.steps,
                        .start_ns = int64_t(record.start_ns - first_ns)});
  }
  return recorded;
}

std::vector<RecordedStep> AttentionOnDevice::record_order() {
  const Tiling tiling = this->tiling();
  const int64_t items = item_count(call_.problem, tiling, call_.schedule);
  const int64_t tiles = kv_tiles(call_.problem, tiling);
  if (items > most_traced_steps / tiles)
    throw UsageError("wavefront: " + std::to_string(items) + " items of " + std::to_string(tiles) +
                     " K/V tiles are too many for an order trace; allowed: products up to " +
                     std::to_string(most_traced_steps));
  std::vector<kernels::ItemRecord> item_records(static_cast<size_t>(items));
  std::vector<kernels::StepRecord> step_records(static_cast<size_t>(items * tiles));
  launch_recorded(item_records, step_records);

  uint64_t first_ns = ~uint64_t{0};
  for (const kernels::StepRecord& step : step_records)
    if (step.kv_tile >= 0) first_ns = std::min(first_ns, step.start_ns);
  // The items' coordinates come from the host's copy of the order.
  Schedule schedule = call_.schedule;
  if (order_list_ != nullptr) schedule.order.list = order_list_->data();
  std::vector<RecordedStep> recorded;
  for (int64_t index = 0; index < items; ++index) {
    const Item item = item_at(call_.problem, tiling, schedule, index);
    const kernels::ItemRecord& of_item = item_records[size_t(index)];
    for (int64_t step = 0; step < of_item.steps; ++step) {
      const kernels::StepRecord& of_step = step_records[size_t(index * tiles + step)];
      recorded.push_back({.worker = of_item.worker,
                          .items_before = of_item.items_before,
                          .item = index,
                          .step = step,
                          .batch = item.batch,
                          .head = item.head,
                          .q_tile = item.own_tile,
                          .kv_tile = of_step.kv_tile,
                          .sm = of_step.sm,
                          .start_ns = int64_t(of_step.start_ns - first_ns)});
    }
  }
  return recorded;
}

}  // namespace sawtooth::experiments
