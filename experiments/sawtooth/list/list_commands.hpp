// sawtooth gpus, systems, schedules: what is known, one line each.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_gpus(const Command& command, const Arguments& arguments);
inline constexpr Command gpus_command{"gpus", "[NAME]", "list the GPU profiles, or all of one",
                                      run_gpus, 0};

int run_systems(const Command& command, const Arguments& arguments);
inline constexpr Command systems_command{
    "systems", "[NAME]", "list the known systems and what their models leave out", run_systems, 0};

int run_schedules(const Command& command, const Arguments& arguments);
inline constexpr Command schedules_command{
    "schedules", "[NAME]", "list the orders, launches, scans and models, or the kernels",
    run_schedules, command_schedules};

}  // namespace sawtooth::experiments
