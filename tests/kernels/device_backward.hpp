// Runs attention_backward on host data: for tests, where copies do not matter.
#pragma once

#include <string>
#include <vector>

#include "kernels/attention/backward.hpp"
#include "tests/kernels/device_attention.hpp"

namespace sawtooth::kernels {

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
