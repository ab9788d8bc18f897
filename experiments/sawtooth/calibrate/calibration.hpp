// A calibration of the GPU at hand: streams under counters, the map of L2's halves, latencies and
// bandwidths, and what they say.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cupti/range_profiler.hpp"
#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "kernels/stream/l2_halves.hpp"
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

struct Calibration {
  std::vector<StreamRow> rows;
  kernels::L2HalfMap halves;
  // For every SM: near misses as a share of 1 MiB that the SM of rank 0 has just read. About 0.5
  // when the SM sits at the other half (the lines that rank 0's half owns are not there yet), about
  // 0 when it sits at the same one.
  std::vector<double> near_miss_share;
  std::vector<Figure> figures;
  std::vector<CheckLine> checks;
};

/// Bytes of the buffer that DRAM bandwidth is read from.
inline constexpr int64_t dram_buffer_mib = 1024;

/// Runs everything with a campaign whose buffer holds at least dram_buffer_mib. `report` is called
/// before each part with one line.
Calibration run_calibration(StreamCampaign& campaign, int repetitions,
                            const std::function<void(const std::string&)>& report);

/// rank, smid, half, far_share (latencies), near_miss_share (counters); a line an SM.
std::string sm_halves_csv(const kernels::SmRanks& sms, const Calibration& calibration);
/// line, half: the owner of each of a sample of consecutive lines.
std::string line_halves_csv(const kernels::L2HalfMap& map);

}  // namespace sawtooth::experiments
