// Forward kernels that launches under a mask run instead of their variant's own: same tile, element
// type and tensor maps, other machine code.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/attention/variants.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

struct MaskedKernel {
  const void* function = nullptr;  // for the CUDA runtime
  int shared_bytes = 0;            // of a CTA
  int64_t most_keys = 0;           // of a launch that runs it; 0: any number
};

/// Those of a variant, fewest keys first; none for most.
std::span<const MaskedKernel> masked_kernels(const KernelVariant& variant);

/// What a launch of this problem runs, packed sequences and running results aside: a masked kernel
/// or the variant's own.
MaskedKernel kernel_for(const KernelVariant& variant, const Problem& problem);

/// Of family hopper-short at head dim 128 (kernels/hopper/masked_short.cuh).
std::array<MaskedKernel, 2> masked_hopper_short_bf16();
std::array<MaskedKernel, 2> masked_hopper_short_fp16();

}  // namespace sawtooth::kernels
