// sawtooth calibrate: what streams say of a GPU.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_calibrate(const Command& command, const Arguments& arguments);
inline constexpr Command calibrate_command{
    "calibrate", "[ITEMS.csv]",
    "run streams on this GPU; write its profile, its die's map and raw counters; or fit the "
    "two-half model to recorded ones, or profile, die and kernel costs to records of items",
    run_calibrate, command_calibrate};

}  // namespace sawtooth::experiments
