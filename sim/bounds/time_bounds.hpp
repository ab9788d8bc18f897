// Time that no order of work can do without, by the costs of the timed model: arithmetic, balance,
// bytes and the latency of what comes first (docs/models/bounds.md).
#pragma once

#include "sim/gpu.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// In microseconds, from launch to end.
struct TimeBounds {
  double all_orders = 0;  // any assignment of the items to the workers
  double this_order = 0;  // static and balanced launches: of this one; else as all_orders
};

/// Throws std::invalid_argument as timed_parameters() does. Steps are random in time: what they
/// may gain together by four standard deviations is taken off.
TimeBounds time_bounds(const Request& request, const Gpu& gpu);

}  // namespace sawtooth::sim
