// Runs attention_forward on host data: for tests, where copies do not matter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/attention.hpp"
#include "kernels/common/device_buffer.hpp"
#include "kernels/common/order_trace.hpp"
#include "tests/kernels/device_tensor.hpp"
#include "tests/kernels/trace_judgement.hpp"

namespace sawtooth::kernels {

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

}  // namespace sawtooth::kernels
