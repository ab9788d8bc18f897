// The rows of the variant table of the kernels whose tiles come by cp.async.
#pragma once

#include "kernels/mma/forward.cuh"
#include "kernels/mma/variant_row.cuh"

namespace sawtooth::kernels {

/// With loads by cp.async.
template <class Shape>
KernelVariant async_variant(const char* name) {
  return mma_variant<Shape, ForwardStorage<Shape>>(
      families::mma, name, reinterpret_cast<const void*>(&forward_kernel<Shape>));
}

}  // namespace sawtooth::kernels

// Defines `function()`, which kernels/attention/built_variants.hpp declares, from the columns of
// kernels/attention/variants.inc; `row` makes the row from a shape.
#define SAWTOOTH_MMA_VARIANT(row, function, type, name, head_dim, q_rows, kv_rows, ctas, warps, \
                             stages, score_columns, q_in_registers)                             \
  namespace sawtooth::kernels {                                                                 \
  KernelVariant function() {                                                                    \
    return row<ForwardShape<element_##type, head_dim, q_rows, kv_rows, warps, stages,           \
                            score_columns, q_in_registers, ctas>>(#type "_" #name);             \
  }                                                                                             \
  }
#define SAWTOOTH_VARIANT(function, type, name, set, head_dim, q_rows, kv_rows, ctas, bytes, ...) \
  SAWTOOTH_MMA_VARIANT(async_variant, function, type, name, head_dim, q_rows, kv_rows, ctas,     \
                       __VA_ARGS__)
