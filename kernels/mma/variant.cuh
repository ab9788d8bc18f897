// One row of the variant table from the shape of a kernel. Every file in kernels/mma/variants
// instantiates one tile and head dim for both element types.
#pragma once

#include "kernels/mma/forward.cuh"
#include "kernels/variants.hpp"

namespace sawtooth::kernels {

template <class Shape>
KernelVariant variant_of(ElementType dtype) {
  return {.family = "mma",
          .head_dim = Shape::head_dim,
          .tiling = Shape::tiling(),
          .dtype = dtype,
          .warps = Shape::warps,
          .stages = Shape::stages,
          .ctas_per_sm = Shape::ctas_per_sm,
          .shared_bytes = forward_shared_bytes<Shape>(),
          .function = reinterpret_cast<const void*>(&forward_kernel<Shape>)};
}

}  // namespace sawtooth::kernels

// Defines `name(dtype)`, which variant_table.cpp calls.
#define SAWTOOTH_FORWARD_VARIANT(name, head_dim, q_rows, kv_rows, warps, stages, score_columns,   \
                                 q_in_registers, ctas_per_sm)                                     \
  namespace sawtooth::kernels {                                                                   \
  KernelVariant name(ElementType dtype) {                                                         \
    return dtype == ElementType::bf16                                                             \
               ? variant_of<ForwardShape<__nv_bfloat16, head_dim, q_rows, kv_rows, warps, stages, \
                                         score_columns, q_in_registers, ctas_per_sm>>(dtype)      \
               : variant_of<ForwardShape<__half, head_dim, q_rows, kv_rows, warps, stages,        \
                                         score_columns, q_in_registers, ctas_per_sm>>(dtype);     \
  }                                                                                               \
  }
