// sawtooth search: the best schedules of a problem, and what no schedule can beat.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_search(const Command& command, const Arguments& arguments);
inline constexpr Command search_command{"search", "[CONFIG]",
                                        "the best schedules of a problem, and how far any could go",
                                        run_search, command_search};

}  // namespace sawtooth::experiments
