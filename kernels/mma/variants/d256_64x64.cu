#include "kernels/mma/variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_VARIANT(mma_d256_64x64, 256, 64, 64, 4, 2, 64, false, 1)
