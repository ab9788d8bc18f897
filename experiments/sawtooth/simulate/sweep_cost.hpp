// What points are expected to take, before they are simulated: a rough model, good enough to say
// whether a sweep takes minutes or days, and which of two points is the longer one.
#pragma once

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/settings.hpp"

namespace sawtooth::experiments {

class SimulatedSweep;

struct PointCost {
  double seconds = 0;  // of one core
  double bytes = 0;    // of memory
};

/// Nothing for a refused point.
PointCost expected_cost(const Point& point);

/// simulate --dry-run: what a sweep would take, to standard output; returns an exit code.
int dry_run(SimulatedSweep& sweep, const Settings& outputs);

}  // namespace sawtooth::experiments
