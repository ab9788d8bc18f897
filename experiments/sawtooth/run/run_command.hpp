// sawtooth run: one configuration, predicted, measured, compared and drawn.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_run(const Command& command, const Arguments& arguments);
inline constexpr Command run_command{
    "run", "CONFIG", "simulate, measure where a GPU is, compare, draw; all into runs/NAME", run_run,
    0};

}  // namespace sawtooth::experiments
