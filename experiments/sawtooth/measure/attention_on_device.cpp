#include "experiments/sawtooth/measure/attention_on_device.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>

#include "experiments/sawtooth/support/text.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/common/event_pair.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::DeviceBuffer;

void require_matching_gpu(const Point& point) {
  const int sms = kernels::device_attribute(cudaDevAttrMultiProcessorCount);
  if (point.gpu.sms > 0 && point.gpu.sms != sms)
    throw UsageError("gpu: profile " + point.keys.gpu + " has " + std::to_string(point.gpu.sms) +
                     " SMs, this GPU has " + std::to_string(sms) +
                     "; name the profile of this GPU (see `sawtooth gpus`)");
}

/// These calls have order and launch as values, and record them.
template <class Call>
concept has_schedule = requires(Call call) {
  call.schedule;
};

}  // namespace

AttentionOnDevice::AttentionOnDevice(const Point& point,
                                     std::shared_ptr<const AttentionTensors> tensors)
    : call_(attention_call(point)),
      order_list_(point.order_list),
      tensors_(std::move(tensors)),
      packed_(packed_rows(point)) {
  require_matching_gpu(point);
  const int64_t rows = problem().batch * problem().heads * problem().seq_q;
  if (tensors_ == nullptr) tensors_ = tensors_of(point);
  std::visit([this](auto& call) { give_tensors(*tensors_, call); }, call_);
  if (point.request.log_sum_exp && problem().pass == Pass::forward) {
    lse_ = DeviceBuffer(rows * int64_t(sizeof(float)));
    std::visit([this](auto& call) { call.lse = lse_.as<float>(); }, call_);
  }
  if (auto* decode = std::get_if<kernels::AttentionDecode>(&call_)) take_tables(*decode, point);
  if (order_list_ != nullptr) order_ = kernels::to_device(*order_list_);
  if (auto* forward = std::get_if<kernels::AttentionForward>(&call_)) take_lists(*forward, point);
  std::visit(
      [this](auto& call) {
        if constexpr (has_schedule<decltype(call)>)
          if (order_list_ != nullptr) call.schedule.order.list = order_.as<WorkCoordinates>();
        workspace_ = kernels::zeroed(int64_t(kernels::workspace_bytes(call)));
        call.workspace_starts_zero = true;
      },
      call_);
  if (auto* backward = std::get_if<kernels::AttentionBackward>(&call_))
    prepare_backward(*backward, point.request.schedule.small_kernels);
  if (!packed_.q.empty())
    require_launched(plan_.make(std::get<kernels::AttentionForward>(call_), workspace_.as(),
                                size_t(workspace_.bytes())));
}

void AttentionOnDevice::take_lists(kernels::AttentionForward& call, const Point& point) {
  call.packed = packed_of(packed_, point);
  if (point.listed_mask == nullptr) return;
  const std::vector<KeySpans> spans = spans_of(point);
  ListedTiles lists = *call.problem.mask.listed;
  lists.spans = spans.empty() ? nullptr : spans.data();
  const int64_t* const begin = lists.of_q.begin;
  list_begin_ =
      kernels::to_device(std::vector(begin, begin + q_tiles(call.problem, call.tiling) + 1));
  std::vector<int32_t> entries = kernels::list_entries(call.problem, call.tiling, lists);
  entries.push_back(0);  // so that there is an address where nothing is seen
  list_entries_ = kernels::to_device(entries);
  call.lists.entries = {list_begin_.as<int64_t>(), list_entries_.as<int32_t>()};
  if (spans.empty()) return;
  key_spans_ = kernels::to_device(spans);
  call.lists.spans = key_spans_.as<KeySpans>();
}

void AttentionOnDevice::take_tables(kernels::AttentionDecode& call, const Point& point) {
  if (point.sequences != nullptr) {
    std::vector<int32_t> lengths;
    for (const SequenceLengths& sequence : point.sequences->lengths)
      lengths.push_back(int32_t(sequence.seq_kv));
    lengths_ = kernels::to_device(lengths);
    call.lengths = lengths_.as<int32_t>();
  }
  if (point.page_table != nullptr) {
    pages_ = kernels::to_device(*point.page_table);
    call.pages.table = pages_.as<int32_t>();
  }
}

void AttentionOnDevice::prepare_backward(kernels::AttentionBackward& call, bool small_kernels) {
  run_forward(*tensors_, call.problem);
  call.kernels = {.before = true, .main = false, .behind = false};
  launch();
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  call.kernels = {.before = small_kernels, .main = true, .behind = small_kernels};
}

const Problem& AttentionOnDevice::problem() const {
  return std::visit([](const auto& call) -> const Problem& { return call.problem; }, call_);
}

const Schedule& AttentionOnDevice::schedule() const {
  return std::visit(
      [](const auto& call) -> const Schedule& {
        if constexpr (std::is_same_v<decltype(call), const kernels::AttentionForward&>)
          if (call.packed.q != nullptr)
            throw UsageError(
                "item-trace, order-trace, wavefront: launches over sequences of different lengths "
                "record nothing");
        if constexpr (has_schedule<decltype(call)>)
          return call.schedule;
        else
          throw UsageError("item-trace, order-trace, wavefront: the decode kernels record nothing");
      },
      call_);
}

void AttentionOnDevice::launch() {
  void* const workspace = workspace_.as();
  const auto bytes = size_t(workspace_.bytes());
  if (const auto* backward = std::get_if<kernels::AttentionBackward>(&call_))
    require_launched(kernels::attention_backward(*backward, workspace, bytes, nullptr));
  else if (const auto* decode = std::get_if<kernels::AttentionDecode>(&call_))
    require_launched(kernels::attention_decode(*decode, workspace, bytes, nullptr));
  else if (!packed_.q.empty())
    require_launched(plan_.run(nullptr));
  else
    require_launched(kernels::attention_forward(std::get<kernels::AttentionForward>(call_),
                                                workspace, bytes, nullptr));
}

double AttentionOnDevice::time_us(int launches, bool behind_another,
                                  const std::function<void()>& before) {
  kernels::EventPair events;
  if (behind_another) launch();
  if (before) before();
  const double all_us = events.time_us([&] {
    for (int i = 0; i < launches; ++i) launch();
  });
  return all_us / launches;
}

Tiling AttentionOnDevice::tiling() const {
  return variant_of(call_).tiling;
}

int64_t AttentionOnDevice::steps_per_item() const {
  return problem().pass == Pass::forward
             ? kv_tiles(problem(), tiling())
             : q_tiles(problem(), tiling()) * heads_of_item(problem(), schedule());
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
  const auto set_trace = [&](const kernels::OrderTrace& trace) {
    std::visit(
        [&](auto& call) {
          if constexpr (has_schedule<decltype(call)>) call.trace = trace;
        },
        call_);
  };
  set_trace({item_buffer.as<kernels::ItemRecord>(),
             steps.empty() ? nullptr : step_buffer.as<kernels::StepRecord>(), steps_per_item()});
  launch();
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  set_trace({});
  copy(items.data(), item_buffer.as(), item_bytes);
  copy(steps.data(), step_buffer.as(), step_bytes);
}

std::vector<MeasuredItem> AttentionOnDevice::record_items() {
  const int64_t items = item_count(problem(), tiling(), schedule());
  std::vector<kernels::ItemRecord> records(static_cast<size_t>(items));
  std::vector<kernels::StepRecord> no_steps;
  launch_recorded(records, no_steps);
  uint64_t first_ns = ~uint64_t{0};
  for (const kernels::ItemRecord& record : records)
    if (record.times_started > 0) first_ns = std::min(first_ns, record.start_ns);
  std::vector<MeasuredItem> recorded;
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
  const int64_t items = item_count(problem(), tiling, schedule());
  const int64_t tiles = steps_per_item();
  if (items > most_traced_steps / tiles)
    throw UsageError("wavefront: " + std::to_string(items) + " items of " + std::to_string(tiles) +
                     " steps are too many for an order trace; allowed: products up to " +
                     std::to_string(most_traced_steps));
  std::vector<kernels::ItemRecord> item_records(static_cast<size_t>(items));
  std::vector<kernels::StepRecord> step_records(static_cast<size_t>(items * tiles));
  launch_recorded(item_records, step_records);

  uint64_t first_ns = ~uint64_t{0};
  for (const kernels::StepRecord& step : step_records)
    if (step.kv_tile >= 0) first_ns = std::min(first_ns, step.start_ns);
  // The items' coordinates come from the host's copy of the order.
  Schedule schedule = this->schedule();
  if (order_list_ != nullptr) schedule.order.list = order_list_->data();
  const bool forward = problem().pass == Pass::forward;
  std::vector<RecordedStep> recorded;
  for (int64_t index = 0; index < items; ++index) {
    const Item item = item_at(problem(), tiling, schedule, index);
    const kernels::ItemRecord& of_item = item_records[size_t(index)];
    for (int64_t step = 0; step < of_item.steps; ++step) {
      const kernels::StepRecord& of_step = step_records[size_t(index * tiles + step)];
      recorded.push_back({.worker = of_item.worker,
                          .items_before = of_item.items_before,
                          .item = index,
                          .step = step,
                          .batch = item.batch,
                          .head = forward ? item.head : item.head + step / item.scanned.size(),
                          .q_tile = forward ? item.own_tile : of_step.kv_tile,
                          .kv_tile = forward ? of_step.kv_tile : item.own_tile,
                          .sm = of_step.sm,
                          .start_ns = int64_t(of_step.start_ns - first_ns)});
    }
  }
  return recorded;
}

}  // namespace sawtooth::experiments
