#include "kernels/mma/variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_VARIANT(mma_d32_128x128, 32, 128, 128, 4, 2, 128, true, 2)
