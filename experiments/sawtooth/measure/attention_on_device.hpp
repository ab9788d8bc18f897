// One point of a sweep as something that can be launched: random tensors in device memory, the
// kernel variant and the schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/measure/measured_wavefront.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/attention/backward.hpp"
#include "kernels/attention/decode.hpp"
#include "kernels/common/device_buffer.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

// Q, K, V and O of one problem in device memory, filled with random values, and for a backward pass
// dO and the gradients.
//
// Which lines share a set of L2 depends on the physical pages, so DRAM reads of one launch do too:
// near an edge by a factor of two (docs/models/halves.md). Pages are drawn, not chosen.

struct AttentionTensors {
  /// Contiguous [batch, head, length, dim]; inputs of a fixed seed, O as the allocator left it.
  /// `placement` 0 takes the pages that the allocator gives; every other number leaves gaps of a
  /// drawn size before each tensor. Throws CudaError without a device or without memory.
  /// `kv_rows` of K and of V of each K/V head lie in all pages, 0: batch x seq_kv.
  explicit AttentionTensors(const Problem& problem, uint64_t placement = 0, int64_t kv_rows = 0);

  kernels::DeviceBuffer q, k, v, o;
  kernels::DeviceBuffer d_o, lse, dq, dk, dv;  // of a backward pass; forward has not run yet
};

/// Gives a call of any kind the tensors that it reads and writes; only a backward pass gets the
/// log-sum-exp.
template <class Call>
void give_tensors(const AttentionTensors& tensors, Call& call) {
  call.q = tensors.q.as();
  call.k = tensors.k.as();
  call.v = tensors.v.as();
  call.o = tensors.o.as();
  if constexpr (requires { call.d_o; }) {
    call.d_o = tensors.d_o.as();
    call.lse = tensors.lse.as<float>();
    call.dq = tensors.dq.as();
    call.dk = tensors.dk.as();
    call.dv = tensors.dv.as();
  }
}

/// Throws std::runtime_error where a call was not launched.
void require_launched(const kernels::Outcome& outcome);

/// Runs the forward pass of a backward problem, which leaves O and log-sum-exp in `tensors`, to its
/// end.
void run_forward(const AttentionTensors& tensors, Problem problem);

/// The point's K and V may lie in pages.
std::shared_ptr<const AttentionTensors> tensors_of(const Point& point, uint64_t placement = 0);

using AttentionCall =
    std::variant<kernels::AttentionForward, kernels::AttentionBackward, kernels::AttentionDecode>;

/// Where the sequences of a point begin in packed tensors, for a call to point to; empty where it
/// has one length.
struct PackedRowsOfPoint {
  std::vector<int32_t> q, kv;
};

/// The launch of a point without its tensors, of its pass. Throws UsageError that names key and
/// what is allowed when no kernel runs it (head dim, dtype, tiling, loop). Of sequences of
/// different lengths without packed heads it lacks the rows.
AttentionCall attention_call(const Point& point);

/// The kernel that runs it.
const kernels::KernelVariant& variant_of(const AttentionCall& call);

/// Where the sequences of a point begin, and the same rows as a call has them.
PackedRowsOfPoint packed_rows(const Point& point);
kernels::PackedRows packed_of(const PackedRowsOfPoint& rows, const Point& point);

/// What each query row sees of its tiles, of a mask that is lists (key_spans). Throws UsageError.
std::vector<KeySpans> spans_of(const Point& point);

class AttentionOnDevice {
 public:
  /// Takes the tensors of the point's problem, or makes its own. Throws UsageError as
  /// attention_call, when the GPU has other SMs than the point's profile, or when memory lacks;
  /// CudaError without a device.
  explicit AttentionOnDevice(const Point& point,
                             std::shared_ptr<const AttentionTensors> tensors = nullptr);

  /// Enqueues one launch on the default stream; of a backward pass its main kernel alone, or with
  /// small-kernels all three. Throws std::runtime_error when it fails.
  void launch();

  /// Duration of a launch by events, us: mean of `launches` in a row. `behind_another`: one more
  /// goes before them, so that the GPU is busy when they are enqueued and their own time on the CPU
  /// does not count. `before`, where given, is called in front of them to the same end. Waits for
  /// them.
  double time_us(int launches = 1, bool behind_another = false,
                 const std::function<void()>& before = nullptr);

  /// One launch that records when each item began and who took it, in the order of items. Never
  /// counted or timed, though it runs as a launch that records nothing: an item has hundreds of
  /// steps, and only its first is recorded.
  std::vector<MeasuredItem> record_items();

  /// One launch with the order trace on, in the order of items and steps. Never counted or timed.
  /// Throws UsageError when the trace would have more than `most_traced_steps` records.
  std::vector<RecordedStep> record_order();
  static constexpr int64_t most_traced_steps = int64_t{1} << 25;  // 512 MiB of device memory

 private:
  /// One launch that records items, and steps where `steps` is not empty.
  void launch_recorded(std::vector<kernels::ItemRecord>& items,
                       std::vector<kernels::StepRecord>& steps);
  /// Fills in what a backward pass reads: O, log-sum-exp and the sums that its first kernel leaves.
  void prepare_backward(kernels::AttentionBackward& call, bool small_kernels);
  void take_tables(kernels::AttentionDecode& call, const Point& point);
  void take_lists(kernels::AttentionForward& call, const Point& point);
  const Problem& problem() const;
  const Schedule& schedule() const;
  Tiling tiling() const;
  int64_t steps_per_item() const;

  AttentionCall call_;
  std::shared_ptr<const std::vector<WorkCoordinates>> order_list_;
  std::shared_ptr<const AttentionTensors> tensors_;
  PackedRowsOfPoint packed_;
  kernels::AttentionPlan plan_;  // of packed sequences, whose tables it copies once
  kernels::DeviceBuffer lse_, order_, lengths_, pages_, workspace_;
  kernels::DeviceBuffer list_begin_, list_entries_, key_spans_;
};

}  // namespace sawtooth::experiments
