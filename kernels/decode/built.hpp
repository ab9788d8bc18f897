// The decode kernels of this build.
#pragma once

#include <vector>

#include "kernels/attention/variants.hpp"

namespace sawtooth::kernels::decode {

void add_mma_variants(std::vector<KernelVariant>& variants);
void add_mma_cascades(std::vector<KernelVariant>& variants);
void add_mma_tma_variants(std::vector<KernelVariant>& variants);
void add_mma_tma_cascades(std::vector<KernelVariant>& variants);

}  // namespace sawtooth::kernels::decode
