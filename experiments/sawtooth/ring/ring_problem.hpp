// One pass of a problem, on one GPU and as a ring: tensors, calls, and whether results agree.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "kernels/ring/ring_attention.hpp"

namespace sawtooth::experiments {

/// Whether the ring's results are those of one GPU, and by how much they differ.
struct RingCheck {
  bool is_small = false;
  std::string text;
};

class RingProblemOnDevices {
 public:
  virtual ~RingProblemOnDevices() = default;

  /// Enqueues the plain call of the whole problem on the default stream of the first GPU. Throws
  /// std::runtime_error where it is not launched.
  virtual void run_whole() = 0;
  virtual kernels::RingPass& ring() = 0;
  virtual RingCheck check() = 0;
  /// The point of a rank's call, or without both of the whole problem, with the kernel, tile and
  /// schedule that run it; the kernel's family is second.
  virtual std::pair<Point, std::string> as_run(std::optional<int64_t> rank,
                                               std::optional<int64_t> step) const = 0;
};

/// The problem has the point's pass. Where it `chooses`, the library decides on kernel, tile and
/// schedule of each call. Leaves the first device current. Throws UsageError for what no kernel
/// runs, CudaError, and std::runtime_error for the movers.
std::unique_ptr<RingProblemOnDevices> ring_problem(const Point& point,
                                                   const std::vector<int>& devices, bool chooses);

}  // namespace sawtooth::experiments
