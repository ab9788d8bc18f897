// sawtooth trace, in a build with zstd.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_trace(const Command& command, const Arguments& arguments);
inline constexpr Command trace_command{
    "trace", "[CONFIG]", "write the trace of a point, or read one and predict from it", run_trace,
    command_trace};

}  // namespace sawtooth::experiments
