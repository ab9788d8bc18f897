// Which kernel runs a call.
#pragma once

#include "kernels/attention/attention.hpp"
#include "kernels/attention/device.hpp"

namespace sawtooth::kernels {

/// Whether `device` can run the variant: its compute capability and shared memory.
Outcome check_device(const KernelVariant& variant, const DeviceLimits& device);

/// Whether the copy engine can step over a tensor of `sizes` (batch, heads, rows) with `strides`
/// (CUDA driver API, cuTensorMapEncodeTiled: globalStrides).
Outcome check_tensor_map(const char* name, const Strides& strides, const int64_t (&sizes)[3]);

/// Whether `variant` can run a call that passes `check` but for its kernel: its strides, its
/// schedule, its number of items. Automatic fields suit every kernel.
Outcome suits(const AttentionForward& call, const KernelVariant& variant);

/// The kernel of a call on `device` (zeros: any): of those with the tiling, family, head dim and
/// type of the call that suit it and run there, the fastest. One made for the device alone (hopper)
/// is faster than others, and among such the one with the least estimated time; else the first of
/// the table, but for tiles that mma-tma has too on an sm_90. What was wrong where there is none.
Outcome choose_variant(const AttentionForward& call, const DeviceLimits& device,
                       const KernelVariant*& chosen);

}  // namespace sawtooth::kernels
