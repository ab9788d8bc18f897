// One row of the variant table for a kernel of fp32 with scalar products.
#pragma once

#include "kernels/mma/variant.cuh"

#undef SAWTOOTH_VARIANT
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas, \
                         bytes, ...)                                                         \
  SAWTOOTH_MMA_VARIANT(scalar_variant, family, function, type, name, set, head_dim, q_rows,  \
                       kv_rows, ctas, __VA_ARGS__)
