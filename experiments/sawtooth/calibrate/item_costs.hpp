// Costs of kernels from what items of their launches took.
#pragma once

#include <vector>

#include "experiments/sawtooth/calibrate/launch_times.hpp"

namespace sawtooth::experiments {

/// Sections of a kernel's file: what a step takes, alone and where two CTAs share an SM, how it
/// varies from step to step and from SM to SM, what prefetch adds, and what an item takes beyond
/// its steps. Of kernels/mma forward also the rates of products and exponentials and what is left
/// beside them, which its other tiles are predicted from. What the launches do not show is not
/// there.
///
/// `launches` are of one family on `gpu`; `known` are costs of every kernel on it, of which the
/// rates, fixed-ns and item-begin-ns are used. Throws std::invalid_argument where no launch without
/// a mask and prefetch has one CTA an SM and long items.
std::vector<ProfileSection> item_costs(const std::vector<LaunchTimes>& launches,
                                       const sim::Gpu& gpu, const sim::KernelCost& known);

}  // namespace sawtooth::experiments
