// TFLOP/s of a variant of the Hopper kernel over lengths and schedules.
#pragma once

#include <span>

#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels::hopper {

/// Sequence lengths of the table's columns.
std::span<const int64_t> timed_lengths();

/// Prints a row a mask and schedule; schedules of one length are interleaved.
void time_variant(const KernelVariant& variant);

}  // namespace sawtooth::kernels::hopper
