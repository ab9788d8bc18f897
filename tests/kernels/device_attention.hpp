// Runs attention_forward and attention_backward on host data, for tests, where copies do not
// matter, and judges the order that a launch recorded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/backward.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/common/device_buffer.hpp"
#include "kernels/common/order_trace.hpp"
#include "scheduler/schedule.hpp"
#include "tests/kernels/device_tensor.hpp"

namespace sawtooth::kernels {

/// Gives `call` the shape that `variant` runs.
template <class Call>
void set_variant(Call& call, const KernelVariant& variant) {
  call.problem.head_dim = variant.head_dim;
  call.problem.head_dim_v = variant.head_dim_v;
  call.problem.dtype = variant.dtype;
  call.family = variant.family;
  call.tiling = variant.tiling;
}

/// What a launch recorded, on the host.
struct RecordedTrace {
  std::span<const ItemRecord> items;
  std::span<const StepRecord> steps;
  int64_t steps_per_item = 0;
};

/// Empty when every item ran exactly once, by a worker that the launch allows, and every sequence
/// of tiles equals the scan of the recorded counter and start, of the backward pass for every head
/// of the group; else what is wrong.
std::string judge_trace(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                        const RecordedTrace& trace);

/// The lists of tiles of a call's mask, on the device; the call gets their places.
struct DeviceLists {
  explicit DeviceLists(AttentionForward& call);
  DeviceBuffer begin, entries, spans;
};

struct AttentionInputs {
  std::vector<float> q;  // contiguous [batch, head, length, dim], representable in the dtype
  std::vector<float> k;
  std::vector<float> v;
};

struct AttentionResults {
  std::vector<float> o;
  std::vector<float> lse;
  std::vector<ItemRecord> items;  // with a trace
  std::vector<StepRecord> steps;
  int64_t steps_per_item = 0;
  RecordedTrace trace() const { return {items, steps, steps_per_item}; }
  bool gaps_untouched = true;  // padding of O and guard zones still hold the poison
};

/// Standard normal values times `spread`, rounded to the problem's element type.
AttentionInputs random_inputs(const Problem& problem, uint64_t seed, float spread);

/// Fills in pointers and strides of `call`, launches, waits and reads back. O, lse and workspace
/// are poisoned with NaN before the launch; a workspace that is handed in stays as it is. Throws
/// std::runtime_error when it fails.
AttentionResults run_attention(AttentionForward call, const AttentionInputs& inputs, Layout layout,
                               bool with_trace = false, const DeviceBuffer* workspace = nullptr);

/// Whether a CUDA device can be used; otherwise `reason` says why not.
bool device_available(std::string& reason);

struct BackwardInputs {
  AttentionInputs forward;
  std::vector<float> o;  // representable in the element type
  std::vector<float> d_o;
  std::vector<float> lse;
};

struct BackwardResults {
  std::vector<float> dq, dk, dv;
  std::vector<ItemRecord> items;
  std::vector<StepRecord> steps;
  int64_t steps_per_item = 0;
  RecordedTrace trace() const { return {items, steps, steps_per_item}; }
  bool gaps_untouched = true;  // padding and guard zones still hold the poison
};

/// Fills in pointers, strides and trace of `call`, launches, waits and reads back. Gradients and
/// workspace are poisoned with NaN before the launch. Throws std::runtime_error when it fails.
BackwardResults run_backward(AttentionBackward call, const BackwardInputs& inputs, Layout layout);

}  // namespace sawtooth::kernels
