#include "kernels/mma/tma_variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_TMA_VARIANT(mma_tma_d64_64x64, 64, 64, 64, 4, 3, 64, true, 3)
