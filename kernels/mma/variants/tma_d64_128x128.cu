#include "kernels/mma/tma_variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_TMA_VARIANT(mma_tma_d64_128x128, 64, 128, 128, 4, 2, 128, false, 2)
