// One point of a sweep as something that can be launched: random tensors in device memory, the
// kernel variant and the schedule.
#pragma once

#include "experiments/point.hpp"
#include "kernels/attention.hpp"
#include "kernels/device_buffer.hpp"

namespace sawtooth::experiments {

/// The launch of a point without its tensors. Throws UsageError that names key and what is
/// allowed when no kernel runs it (head dim, dtype, tiling, loop).
kernels::AttentionForward attention_call(const Point& point);

/// FLOP of the forward pass: 4 B H Sq Skv D, halved when causal; with a window 4 D a visible pair.
double forward_flop(const Problem& problem);

class AttentionOnDevice {
 public:
  /// Allocates and fills the tensors with random values of a fixed seed. Throws UsageError as
  /// attention_call, when the GPU has other SMs than the point's profile, or when memory lacks;
  /// CudaError without a device.
  explicit AttentionOnDevice(const Point& point);

  /// Enqueues one launch on the default stream. Throws std::runtime_error when it fails.
  void launch();

  /// Duration of one launch by events, us; waits for it.
  double time_us();

 private:
  kernels::AttentionForward call_;
  std::shared_ptr<const std::vector<WorkCoordinates>> order_list_;
  kernels::DeviceBuffer q_, k_, v_, o_, lse_, order_, workspace_;
};

}  // namespace sawtooth::experiments
