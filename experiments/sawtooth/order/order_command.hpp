// sawtooth order: the schedule of a kernel that others wrote, from its stamps.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_order(const Command& command, const Arguments& arguments);
inline constexpr Command order_command{
    "order", "STAMPS [--q-tiles N] [--order-file OUT] [--wavefront FILE] [--wavefront-steps N]",
    "the schedule that best describes the stamps of a launch, and how far its CTAs drift apart",
    run_order};

}  // namespace sawtooth::experiments
