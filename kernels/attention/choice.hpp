// Which kernel runs a call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/backward.hpp"
#include "kernels/attention/variants.hpp"
#include "scheduler/problem.hpp"

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

// Forward kernels that launches under a mask run instead of their variant's own: same tile, element
// type and tensor maps, other machine code.

struct MaskedKernel {
  const void* function = nullptr;  // for the CUDA runtime
  int shared_bytes = 0;            // of a CTA
  int64_t most_keys = 0;           // of a launch that runs it
};

/// That of a variant, or null: most have none.
const MaskedKernel* masked_kernel(const KernelVariant& variant);

/// What a launch of this problem runs, packed sequences and running results aside: a masked kernel
/// or the variant's own.
MaskedKernel kernel_for(const KernelVariant& variant, const Problem& problem);

/// Family hopper-short has these at head dim 128 (kernels/hopper/masked_short.cu).
MaskedKernel masked_hopper_short_bf16();
MaskedKernel masked_hopper_short_fp16();

// Which kernel runs a call of the backward pass.

/// The first kernel of the table with the tiling, family, head dim and type of the call that suits
/// it and runs on `device` (zeros: any); of these one made for the device alone (hopper) goes
/// before others. What was wrong where there is none.
Outcome choose_variant(const AttentionBackward& call, const DeviceLimits& device,
                       const KernelVariant*& chosen);

// Checks of a call's fields that both passes share, without a device.

Outcome refuse(Status status, std::string message);

/// "a, b, c" of what a message allows.
template <class Values, class TextOf>
std::string listed(const Values& values, TextOf text_of) {
  std::string text;
  for (const auto& value : values) text.append(text.empty() ? "" : ", ").append(text_of(value));
  return text;
}

/// With `lists` the mask may be lists of tiles.
Outcome check_sizes(const Problem& problem, bool lists = false);

/// Whether this build has a kernel of the pass with this family, head dim, type and tile.
Outcome check_variant(const Problem& problem, const Tiling& tiling, std::string_view family,
                      Pass pass);

/// The tensor is one of elements; `sizes` are batch, heads and rows.
Outcome check_tensor(const char* name, const void* data, const Strides& strides,
                     const int64_t (&sizes)[3], int64_t head_dim);

/// The floats are log-sum-exp, and may be null.
Outcome check_floats(const char* name, const float* data);
Outcome check_scale(float scale);

/// Names and ranges of a schedule, whatever the kernel.
Outcome check_policies(const Schedule& schedule);

}  // namespace sawtooth::kernels
