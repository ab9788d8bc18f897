// A problem on one GPU, and as a ring over several, with the same random inputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "experiments/sawtooth/ring/ring_problem.hpp"
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
  RingCheck check() { return problem_->check(); }

  /// The point of a rank's call, or of the whole problem on one GPU, with the kernel, tile and
  /// schedule that run it; the kernel's family is second.
  std::pair<Point, std::string> as_run(int64_t rank, int64_t step) const {
    return problem_->as_run(rank, step);
  }
  std::pair<Point, std::string> as_run() const { return problem_->as_run(); }

 private:
  void flush();

  Point point_;
  std::vector<int> devices_;
  std::map<int, kernels::L2State> l2_;  // by device
  std::unique_ptr<RingProblemOnDevices> problem_;
};

}  // namespace sawtooth::experiments
