// One row of the variant table from the shape of a kernel. Every file in kernels/mma/variants
// instantiates one tile and head dim for both element types.
#pragma once

#include "kernels/attention/variants.hpp"
#include "kernels/mma/forward.cuh"

namespace sawtooth::kernels {

template <class Shape, class Loader>
KernelVariant variant_of(ElementType dtype, const void* function) {
  return {.family = Loader::family,
          .head_dim = Shape::head_dim,
          .tiling = Shape::tiling(),
          .dtype = dtype,
          .warps = Shape::warps,
          .stages = Shape::stages,
          .ctas_per_sm = Shape::ctas_per_sm,
          .shared_bytes = shared_bytes_of<typename Loader::Storage>(),
          .function = function};
}

/// The row of loads with cp.async.
template <class Shape>
KernelVariant variant_of(ElementType dtype) {
  return variant_of<Shape, AsyncLoader<Shape>>(
      dtype, reinterpret_cast<const void*>(&forward_kernel<Shape>));
}

}  // namespace sawtooth::kernels

// Defines `name(dtype)`, which variant_table.cpp calls; `row` makes a row from a shape.
#define SAWTOOTH_VARIANT_OF(row, name, ...)                                                  \
  namespace sawtooth::kernels {                                                              \
  KernelVariant name(ElementType dtype) {                                                    \
    return dtype == ElementType::bf16 ? row<ForwardShape<__nv_bfloat16, __VA_ARGS__>>(dtype) \
                                      : row<ForwardShape<__half, __VA_ARGS__>>(dtype);       \
  }                                                                                          \
  }

// name, head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
#define SAWTOOTH_FORWARD_VARIANT(name, ...) SAWTOOTH_VARIANT_OF(variant_of, name, __VA_ARGS__)
