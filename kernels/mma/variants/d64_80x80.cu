#include "kernels/mma/variant.cuh"

// head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
SAWTOOTH_FORWARD_VARIANT(mma_d64_80x80, 64, 80, 80, 5, 2, 80, true, 2)
