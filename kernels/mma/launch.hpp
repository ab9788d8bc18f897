// Enqueues a kernel of the variant table: shared memory, grid and parameters.
#pragma once

#include "kernels/attention/attention.hpp"
#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels {

/// A failed call of CUDA as an outcome: `no_device` where there is none, or none that this build
/// has code for, else `launch_failed`.
Outcome failed(const std::string& what, int cuda_error);

/// What a device offers a kernel.
struct DeviceLimits {
  int compute_capability = 0;  // 10 x major + minor
  int shared_bytes = 0;        // that one CTA can have
  int sms = 0;
};

/// Whether this kernel can cut the last wave, where the schedule does.
Outcome check_pieces(const Schedule& schedule, const KernelVariant& variant);

/// What the kernel of a call that passes `check` gets, with a workspace of workspace_bytes(call).
ForwardArguments arguments_of(const AttentionForward& call, char* workspace);

/// The kernel that runs a call: that of the named tiling. Where none is named, of the kernels made
/// for this device alone (hopper) the one with the least estimated time, unless another family is
/// named; else the first of its head dim, type and family that the device can run; the first of all
/// when it can run none.
const KernelVariant& variant_for(const AttentionForward& call, const DeviceLimits& device);

/// Launches `ctas` CTAs of `variant`, at most `ctas_per_sm` on an SM at once (0: all that fit).
/// Refuses by name what needs more shared memory than the device has and strides that the copy
/// engine cannot step over.
Outcome launch_forward(const KernelVariant& variant, ForwardArguments& arguments, int64_t ctas,
                       int ctas_per_sm, CUstream_st* stream);

}  // namespace sawtooth::kernels
