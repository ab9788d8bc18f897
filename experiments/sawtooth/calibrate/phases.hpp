// Phases of two CTAs that alternate on an SM: in the wrong one both are slower
// (docs/models/backward.md).
#pragma once

#include <vector>

#include "experiments/sawtooth/calibrate/launch_times.hpp"

namespace sawtooth::experiments {

/// Adds wrong-phase-... from launches whose items are alike, and from `masked` ones, in which they
/// are not; false where no launch has slow items. `item_ns` pass between two items.
bool add_phases(std::vector<Parameter>& own, const std::vector<const LaunchTimes*>& pairs,
                const std::vector<const LaunchTimes*>& masked, double item_ns);

}  // namespace sawtooth::experiments
