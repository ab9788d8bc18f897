#include "kernels/mma/tma_variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_TMA_VARIANT(mma_tma_d96_64x64, 96, 64, 64, 4, 2, 64, true, 2)
