// sawtooth simulate: predicts every point of a sweep.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_simulate(const Command& command, const Arguments& arguments);
inline constexpr Command simulate_command{"simulate", "[CONFIG]",
                                          "predict the counters of every point, without a GPU",
                                          run_simulate, command_simulate};

}  // namespace sawtooth::experiments
