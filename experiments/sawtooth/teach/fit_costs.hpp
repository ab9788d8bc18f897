// Costs of a kernel from durations of its launches, by the timed model.
//
// Four numbers explain the durations: what a step takes whose tiles are near, for a lone CTA and
// for one that shares its SM; what an item takes beyond its steps; and how many DRAM latencies of K
// and of V a step is exposed to. The last one is a lead as long as it is below 1 (the tile is asked
// for so early that a part of the latency is hidden) and a number of waits above it (loads that
// wait for registers go out one batch after another).
#pragma once

#include <vector>

#include "experiments/sawtooth/teach/taught_rows.hpp"
#include "sim/kernel_cost.hpp"

namespace sawtooth::experiments {

/// With 90 % confidence it lies from low to high.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct FittedCosts {
  sim::KernelCost cost;        // for the simulator
  Estimate step_ns;            // of a CTA, as it shares its SM in most rows, whose tiles are near
  Estimate item_ns;            // an item's, beyond its steps
  Estimate exposed;            // DRAM latencies of K, and of V, that a step waits for
  Estimate miss_ns;            // what a step takes longer whose tiles come from DRAM
  bool tells_sharing = false;  // rows with one and with several CTAs an SM were there
  std::vector<double> predicted_ns;  // of each row
};

/// Throws UsageError for rows that contradict each other: a time further than 15 % from the fit.
FittedCosts fit_costs(const TaughtRows& taught, size_t threads);

}  // namespace sawtooth::experiments
