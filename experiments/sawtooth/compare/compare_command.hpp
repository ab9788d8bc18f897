// sawtooth compare PREDICTED MEASURED: the errors of every counter.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_compare(const Command& command, const Arguments& arguments);
inline constexpr Command compare_command{"compare", "PREDICTED MEASURED",
                                         "join two CSVs and print the errors of every counter",
                                         run_compare, command_compare};

}  // namespace sawtooth::experiments
