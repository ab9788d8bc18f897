// sawtooth merge: the parts of a sweep as one table.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_merge(const Command& command, const Arguments& arguments);

inline constexpr Command merge_command{
    "merge", "TABLE.csv ...", "joins the parts of a sweep (--shard), and names what is missing",
    run_merge, command_merge};

}  // namespace sawtooth::experiments
