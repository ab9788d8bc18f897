// The table of attention kernels that this build contains: tile x head dim x type.
#pragma once

#include <cstdint>
#include <span>

#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels {

struct KernelVariant {
  const char* family = "";  // mma
  int head_dim = 0;
  Tiling tiling;
  ElementType dtype = ElementType::bf16;
  int warps = 0;
  int stages = 0;       // K/V tiles in shared memory
  int ctas_per_sm = 0;  // that the registers were limited for
  int shared_bytes = 0;
  const void* function = nullptr;  // the kernel, for the CUDA runtime

  constexpr int threads() const { return warps * 32; }
};

/// All variants of the build; of one head dim and type the preferred one comes first.
std::span<const KernelVariant> kernel_variants();

/// The variant of this head dim, type and tiling (zeros: the preferred one), or null.
const KernelVariant* find_variant(int64_t head_dim, ElementType dtype, Tiling tiling);

}  // namespace sawtooth::kernels
