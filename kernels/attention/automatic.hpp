// The schedule of a call that names none: one table of measured rules, and a hook before it.
#pragma once

#include "kernels/attention/attention.hpp"
#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels {

/// Replaces what the table would choose: fills in of `choice` what it knows (policies at
/// automatic_policy, section, workers and kv_split at 0 are left to the table). Called by every
/// call and plan that leaves something automatic, from any thread; must not throw.
using ScheduleHook = void (*)(const Problem& problem, const KernelVariant& variant,
                              const DeviceLimits& device, Schedule& choice);

/// Sets the hook of the process, null for none; gives back the one before.
ScheduleHook set_schedule_hook(ScheduleHook hook);

/// `asked` with nothing left automatic, for a launch of `variant` on `device` with at most
/// `ctas_per_sm` CTAs an SM (0: all that fit).
Schedule complete_schedule(const Schedule& asked, const Problem& problem,
                           const KernelVariant& variant, const DeviceLimits& device,
                           int ctas_per_sm);

}  // namespace sawtooth::kernels
