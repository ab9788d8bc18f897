// Runs calibration streams under the range profiler.
#pragma once

#include <array>
#include <cstdint>

#include "cupti/range_profiler.hpp"
#include "experiments/sawtooth/calibrate/stream_row.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/stream.hpp"

namespace sawtooth::experiments {

/// Runs points with one profiler, one buffer and one plan of metrics.
class StreamCampaign {
 public:
  /// Allocates a buffer of `largest_mib`. Throws CounterError, CudaError.
  explicit StreamCampaign(int64_t largest_mib);

  /// Both ranges of one repetition, from a cold L2.
  std::array<StreamRow, 2> run(const StreamPoint& point, int repetition);

  /// The two passes of `point` without counters, each timed by events: {p1, p2} in us.
  std::array<double, 2> time_us(const StreamPoint& point, int repeats = 1);

  kernels::Streams& streams() { return streams_; }
  kernels::L2State& l2() { return l2_; }
  cupti::RangeProfiler& profiler() { return profiler_; }
  const cupti::MetricPlan& plan() const { return plan_; }

 private:
  kernels::StreamPass pass(const StreamPoint& point, int number) const;

  kernels::Streams streams_;
  kernels::L2State l2_;
  kernels::DeviceBuffer buffer_;
  cupti::RangeProfiler profiler_;
  cupti::MetricPlan plan_;
};

}  // namespace sawtooth::experiments
