// sawtooth ring: attention over the GPUs of a host, timed beside one GPU, step by step and counted.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_ring(const Command& command, const Arguments& arguments);
inline constexpr Command ring_command{"ring", "[CONFIG]",
                                      "run ring attention over several GPUs beside one of them",
                                      run_ring, command_ring};

}  // namespace sawtooth::experiments
