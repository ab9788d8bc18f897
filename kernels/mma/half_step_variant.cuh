// One row of the variant table for a kernel on mma.sync that asks half a step ahead.
#pragma once

#include "kernels/mma/variant.cuh"

#undef SAWTOOTH_VARIANT
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas,   \
                         bytes, ...)                                                           \
  SAWTOOTH_MMA_VARIANT(half_step_variant, family, function, type, name, set, head_dim, q_rows, \
                       kv_rows, ctas, __VA_ARGS__)
