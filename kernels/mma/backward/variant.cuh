// The rows of the variant table of the backward pass.
#pragma once

#include "kernels/mma/backward/backward.cuh"
#include "kernels/mma/backward/dq_kernel.cuh"
#include "kernels/mma/variant_row.cuh"

namespace sawtooth::kernels {

template <class Shape>
KernelVariant backward_variant(const char* family, const char* name, VariantSet set) {
  KernelVariant variant = mma_variant<Shape, BackwardStorage<Shape>>(
      family, name, set, reinterpret_cast<const void*>(&backward_kernel<Shape>));
  if constexpr (Shape::has_dq_kernel) {
    using OfDq = DqShape<Shape>;
    variant.separate_function = reinterpret_cast<const void*>(&backward_kernel<Shape, false>);
    variant.dq_kernel = {.function = reinterpret_cast<const void*>(&dq_kernel<OfDq>),
                         .warps = OfDq::warps,
                         .shared_bytes = shared_bytes_of<DqStorage<OfDq>>()};
  }
  return variant;
}

}  // namespace sawtooth::kernels

// Defines `function()`, which kernels/attention/variant_table.cpp calls, from the columns of
// kernels/attention/variants.inc.
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas, \
                         bytes, warps, stages, score_columns, query_groups)                  \
  namespace sawtooth::kernels {                                                              \
  KernelVariant function() {                                                                 \
    return backward_variant<BackwardShape<element_##type, head_dim, q_rows, kv_rows, warps,  \
                                          stages, score_columns, ctas, query_groups>>(       \
        families::family, #type "_" #name, VariantSet::set);                                 \
  }                                                                                          \
  }
