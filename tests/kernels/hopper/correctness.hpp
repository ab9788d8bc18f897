// A variant of the Hopper kernel against the double-precision reference, over many problems.
#pragma once

#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels::hopper {

/// Runs fixed and random problems (masks, ragged lengths, GQA, layouts, all launches, scans and
/// orders) with poisoned outputs, prints what fails, and returns how many did.
int check_variant(const KernelVariant& variant);

}  // namespace sawtooth::kernels::hopper
