// One row of the variant table from the shape of a kernel on mma.sync.
#pragma once

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/mma/forward.cuh"

namespace sawtooth::kernels {

using element_bf16 = __nv_bfloat16;
using element_fp16 = __half;

template <class Shape, class Storage>
KernelVariant mma_variant(const char* family, const char* name, VariantSet set,
                          const void* function) {
  const bool bf16 = std::is_same_v<typename Shape::Element, __nv_bfloat16>;
  return {.family = family,
          .name = name,
          .head_dim = Shape::head_dim,
          .tiling = Shape::tiling(),
          .dtype = bf16 ? ElementType::bf16 : ElementType::fp16,
          .warps = Shape::warps,
          .stages = Shape::stages,
          .ctas_per_sm = Shape::ctas_per_sm,
          .shared_bytes = shared_bytes_of<Storage>(),
          .function = function,
          .study = set == VariantSet::study};
}

/// With loads by cp.async.
template <class Shape>
KernelVariant async_variant(const char* family, const char* name, VariantSet set) {
  return mma_variant<Shape, ForwardStorage<Shape>>(
      family, name, set, reinterpret_cast<const void*>(&forward_kernel<Shape>));
}
template <class Shape>
KernelVariant half_step_variant(const char* family, const char* name, VariantSet set) {
  return async_variant<HalfStepAhead<Shape>>(family, name, set);
}

}  // namespace sawtooth::kernels

// Defines `function()`, which kernels/attention/built_variants.hpp declares, from the columns of
// kernels/attention/variants.inc; `row` makes the row from a shape.
#define SAWTOOTH_MMA_VARIANT(row, family, function, type, name, set, head_dim, q_rows, kv_rows, \
                             ctas, warps, stages, score_columns, q_in_registers)                \
  namespace sawtooth::kernels {                                                                 \
  KernelVariant function() {                                                                    \
    return row<ForwardShape<element_##type, head_dim, q_rows, kv_rows, warps, stages,           \
                            score_columns, q_in_registers, ctas>>(                              \
        families::family, #type "_" #name, VariantSet::set);                                    \
  }                                                                                             \
  }
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas, \
                         bytes, ...)                                                         \
  SAWTOOTH_MMA_VARIANT(async_variant, family, function, type, name, set, head_dim, q_rows,   \
                       kv_rows, ctas, __VA_ARGS__)
