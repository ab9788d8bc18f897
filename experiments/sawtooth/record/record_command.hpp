// sawtooth record: L2 counters around the launches of a program that others wrote.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_record(const Command& command, const Arguments& arguments);
inline constexpr Command record_command_entry{
    "record",
    "[--kernel REGEX] [--nvtx RANGE] [--skip N] [--count N] [--metrics LIST] [--flush] "
    "[--device N] [--gpu NAME] [--csv FILE] -- COMMAND ...",
    "L2 counters of the launches of any CUDA program; it runs once for each replay pass",
    run_record};

}  // namespace sawtooth::experiments
