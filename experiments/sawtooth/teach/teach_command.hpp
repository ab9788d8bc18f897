// sawtooth teach: the costs of a kernel from durations of its launches alone.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_teach(const Command& command, const Arguments& arguments);
inline constexpr Command teach_command{
    "teach", "ROWS.csv --output KERNEL.ini [--gpu NAME]",
    "learn a kernel's costs from durations of linear scans inside and beyond L2", run_teach};

}  // namespace sawtooth::experiments
