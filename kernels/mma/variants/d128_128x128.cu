#include "kernels/mma/variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_VARIANT(mma_d128_128x128, 128, 128, 128, 8, 2, 64, true, 1)
