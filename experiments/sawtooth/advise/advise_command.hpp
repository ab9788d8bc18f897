// sawtooth advise: what each order would change for a kernel and a problem.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_advise(const Command& command, const Arguments& arguments);
inline constexpr Command advise_command{
    "advise", "[CONFIG]",
    "what each order would change: DRAM reads, time with its interval, and why", run_advise,
    command_simulate};

}  // namespace sawtooth::experiments
