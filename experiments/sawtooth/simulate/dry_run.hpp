// simulate --dry-run: what a sweep would take, without simulating anything.
#pragma once

#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/simulate/simulated_points.hpp"

namespace sawtooth::experiments {

/// To standard output; returns an exit code.
int dry_run(SimulatedSweep& sweep, const Settings& outputs);

}  // namespace sawtooth::experiments
