#include "tests/kernels/device_attention.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <tuple>

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

}  // namespace

AttentionInputs random_inputs(const Problem& problem, uint64_t seed, float spread) {
  std::mt19937_64 generator(seed);
  const int64_t q_rows = problem.batch * problem.heads * problem.seq_q;
  const int64_t kv_rows = problem.batch * problem.kv_heads * problem.seq_kv;
  const auto fill = [&](int64_t elements) {
    return random_elements(elements, problem.dtype, spread, generator);
  };
  return {fill(q_rows * problem.head_dim), fill(kv_rows * problem.head_dim),
          fill(kv_rows * problem.v_dim())};
}

DeviceLists::DeviceLists(AttentionForward& call) {
  const Problem& problem = call.problem;
  if (!is_listed(problem.mask)) return;
  const ListedTiles& lists = *problem.mask.listed;
  const int64_t* const first = lists.of_q.begin;
  begin = copied(std::vector(first, first + q_tiles(problem, call.tiling) + 1));
  entries = copied(list_entries(problem, call.tiling, lists));
  call.lists.entries = {begin.as<int64_t>(), entries.as<int32_t>()};
  if (lists.spans == nullptr) return;
  spans = copied(std::vector(lists.spans, lists.spans + problem.seq_q));
  call.lists.spans = spans.as<KeySpans>();
}

AttentionResults run_attention(AttentionForward call, const AttentionInputs& inputs, Layout layout,
                               bool with_trace, const DeviceBuffer* workspace) {
  const Problem& problem = call.problem;
  const TensorShape q_shape{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const TensorShape kv_shape{problem.batch, problem.kv_heads, problem.seq_kv, problem.head_dim};
  const TensorShape v_shape{problem.batch, problem.kv_heads, problem.seq_kv, problem.v_dim()};
  const TensorShape o_shape{problem.batch, problem.heads, problem.seq_q, problem.v_dim()};
  const DeviceTensor q(q_shape, layout, &inputs.q, problem.dtype);
  const DeviceTensor k(kv_shape, layout, &inputs.k, problem.dtype);
  const DeviceTensor v(v_shape, layout, &inputs.v, problem.dtype);
  DeviceTensor o(o_shape, layout, nullptr, problem.dtype);
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

  const DeviceLists lists(call);
  AttentionResults results;
  DeviceBuffer items, steps;
  if (with_trace) {
    const KernelVariant* variant =
        find_variant(HeadDims(problem), problem.dtype, call.tiling, call.family);
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

namespace {

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
      find_variant(HeadDims(problem), dtype, call.tiling, call.family, Pass::backward);
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

std::string judge_trace(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                        const RecordedTrace& trace) {
  const int64_t heads = problem.pass == Pass::forward ? 1 : heads_of_item(problem, schedule);
  const bool grid = schedule.launch == launch_id<GridLaunch>;
  const bool fixed = strides(schedule.launch);
  std::vector<std::tuple<int64_t, int64_t, int64_t>> turns;  // worker, its counter, item
  for (int64_t index = 0; index < int64_t(trace.items.size()); ++index) {
    const ItemRecord& record = trace.items[size_t(index)];
    const std::string where = "item " + std::to_string(index) + ": ";
    if (record.times_started != 1)
      return where + "started " + std::to_string(record.times_started) + " times";
    if (grid && (record.worker != index || record.items_before != index / schedule.workers))
      return where + "a CTA of the grid has the wrong number or wave";
    if (fixed && (record.worker != index % schedule.workers ||
                  record.items_before != index / schedule.workers))
      return where + "not the worker and turn of the static launch";
    if (!grid) turns.emplace_back(record.worker, record.items_before, index);

    const Item item = item_at(problem, tiling, schedule, index);
    const TileLists* const lists = is_listed(problem.mask) ? &problem.mask.listed->of_q : nullptr;
    const int64_t attach_place =
        lists == nullptr ? record.attach_tile : lists->first_from(item.scanned, record.attach_tile);
    const ScanContext context = scan_context(schedule, item, record.items_before, attach_place);
    const int64_t steps = context.tiles * heads;
    if (record.steps != steps) return where + "wrong number of steps";
    for (int64_t step = 0; step < trace.steps_per_item; ++step) {
      const StepRecord& done = trace.steps[size_t(index * trace.steps_per_item + step)];
      int64_t expected =
          step < steps ? scanned_tile_at(schedule, item, context, step % context.tiles) : -1;
      if (lists != nullptr && expected >= 0) expected = lists->tiles[expected];
      if (done.kv_tile != expected)
        return where + "step " + std::to_string(step) + " visited tile " +
               std::to_string(done.kv_tile) + ", expected " + std::to_string(expected);
    }
  }
  // Items of one worker ascend, and its counter has no gap.
  std::sort(turns.begin(), turns.end());
  for (size_t i = 0; i < turns.size(); ++i) {
    const auto& [worker, turn, item] = turns[i];
    const bool first = i == 0 || std::get<0>(turns[i - 1]) != worker;
    if (turn != (first ? 0 : std::get<1>(turns[i - 1]) + 1))
      return "worker " + std::to_string(worker) + " has a gap in its item counter";
    if (!first && item <= std::get<2>(turns[i - 1]))
      return "worker " + std::to_string(worker) + " took items out of order";
  }
  return {};
}

}  // namespace sawtooth::kernels
