// A problem on one GPU, and as a ring over several, with the same random inputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/measure/attention_tensors.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "experiments/sawtooth/ring/ring_check.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/ring/ring_attention.hpp"
#include "kernels/stream/l2_state.hpp"

namespace sawtooth::experiments {

/// One round: the plain call on the first GPU, the ring, and the transfers alone, ms.
struct RingRound {
  double one_gpu = 0;
  double transfers_alone = 0;
  kernels::RingTimes ring;
};

class RingRun {
 public:
  /// `devices`: of each rank. Where it `chooses`, the library decides on kernel, tile and schedule
  /// of each call. Throws UsageError for what no kernel runs, CudaError, and std::runtime_error for
  /// the movers.
  RingRun(const Point& point, const std::vector<int>& devices, bool chooses);

  /// Launches everything once, so that no round pays for it.
  void warm_up();
  RingRound round();

  /// By (rank, step): counters of the calls, those of devices one after another. What runs on other
  /// devices in a step runs beside the first call of a device.
  using CellsByCall = std::map<std::pair<int64_t, int64_t>, MeasuredCells>;
  CellsByCall count();

  /// Compares all rows with those of one GPU.
  ResultDifference check();

  /// The point of a rank's call, or of the whole problem on one GPU, with the kernel, tile and
  /// schedule that run it; the kernel's family is second.
  std::pair<Point, std::string> as_run(int64_t rank, int64_t step) const;
  std::pair<Point, std::string> as_run() const { return as_run_of(whole_); }

 private:
  void flush();
  void scatter(const void* whole, int64_t heads, void* (kernels::RingAttention::*part)(int) const);
  std::pair<Point, std::string> as_run_of(const kernels::AttentionForward& call) const;

  Point point_;
  std::vector<int> devices_;
  bool automatic_;
  std::unique_ptr<AttentionTensors> tensors_;
  kernels::DeviceBuffer lse_, workspace_;
  kernels::AttentionForward whole_;
  kernels::AttentionPlan plan_;
  std::map<int, kernels::L2State> l2_;  // by device
  std::unique_ptr<kernels::RingAttention> ring_;
};

}  // namespace sawtooth::experiments
