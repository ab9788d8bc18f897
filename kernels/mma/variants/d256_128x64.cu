#include "kernels/mma/variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_VARIANT(mma_d256_128x64, 256, 128, 64, 8, 2, 64, false, 1)
