// The schedule of a call that names none: one table of measured rules.
#pragma once

#include "kernels/attention/attention.hpp"
#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {

/// `asked` with nothing left automatic, for a launch of `variant` on `device` with at most
/// `ctas_per_sm` CTAs an SM (0: all that fit).
Schedule complete_schedule(const Schedule& asked, const Problem& problem,
                           const KernelVariant& variant, const DeviceLimits& device,
                           int ctas_per_sm);

}  // namespace sawtooth::kernels
