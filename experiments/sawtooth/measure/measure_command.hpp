// sawtooth measure and bench, which need a build with CUDA.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_measure(const Command& command, const Arguments& arguments);
inline constexpr Command measure_command{"measure", "[CONFIG]",
                                         "run the kernels of every point and read L2 counters",
                                         run_measure, command_measure};

int run_bench(const Command& command, const Arguments& arguments);
inline constexpr Command bench_command{"bench", "[CONFIG]",
                                       "time all points against each other, interleaved", run_bench,
                                       command_bench};

}  // namespace sawtooth::experiments
