#include "kernels/mma/tma_variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_TMA_VARIANT(mma_tma_d128_128x64, 128, 128, 64, 4, 2, 64, false, 2)
