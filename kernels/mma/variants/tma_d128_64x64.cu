#include "kernels/mma/tma_variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_TMA_VARIANT(mma_tma_d128_64x64, 128, 64, 64, 4, 2, 64, true, 2)
