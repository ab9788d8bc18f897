// sawtooth counters list and dump.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_counters(const Command& command, const Arguments& arguments);
inline constexpr Command counters_command{"counters", "list | dump [CONFIG]",
                                          "list: metrics of a chip and the passes that they take, "
                                          "without a GPU; dump: any metrics of our kernels",
                                          run_counters, command_counters | command_measure};

/// `dump`, in a build with CUDA.
int run_counters_dump(const Command& command, const Arguments& arguments);

}  // namespace sawtooth::experiments
