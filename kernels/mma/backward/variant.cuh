// The rows of the variant table of the backward pass.
#pragma once

#include "kernels/mma/backward/backward.cuh"
#include "kernels/mma/variant_row.cuh"

namespace sawtooth::kernels {

template <class Shape>
KernelVariant backward_variant(const char* family, const char* name, VariantSet set) {
  return mma_variant<Shape, BackwardStorage<Shape>>(
      family, name, set, reinterpret_cast<const void*>(&backward_kernel<Shape>));
}

}  // namespace sawtooth::kernels

// Defines `function()`, which kernels/attention/built_variants.hpp declares, from the columns of
// kernels/attention/variants.inc.
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas, \
                         bytes, warps, stages, score_columns)                                \
  namespace sawtooth::kernels {                                                              \
  KernelVariant function() {                                                                 \
    return backward_variant<BackwardShape<element_##type, head_dim, q_rows, kv_rows, warps,  \
                                          stages, score_columns, ctas>>(                     \
        families::family, #type "_" #name, VariantSet::set);                                 \
  }                                                                                          \
  }
