// Which kernel runs a call of the backward pass.
#pragma once

#include "kernels/attention/backward.hpp"
#include "kernels/attention/choice.hpp"

namespace sawtooth::kernels {

/// The first kernel of the table with the tiling, family, head dim and type of the call that suits
/// it and runs on `device` (zeros: any); of these one made for the device alone (hopper) goes
/// before others. What was wrong where there is none.
Outcome choose_variant(const AttentionBackward& call, const DeviceLimits& device,
                       const KernelVariant*& chosen);

}  // namespace sawtooth::kernels
