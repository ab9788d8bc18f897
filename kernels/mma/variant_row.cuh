// One row of the variant table from the shape of a kernel on mma.sync, of either pass.
#pragma once

#include <type_traits>

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/mma/launch_storage.cuh"

namespace sawtooth::kernels {

using element_bf16 = __nv_bfloat16;
using element_fp16 = __half;
using element_fp32 = float;

template <class Element>
inline constexpr ElementType element_type =
    std::is_same_v<Element, __nv_bfloat16> ? ElementType::bf16
    : std::is_same_v<Element, __half>      ? ElementType::fp16
                                           : ElementType::fp32;

/// Head dim of V and O; of the backward pass that of Q and K.
template <class Shape>
constexpr int head_dim_v_of() {
  if constexpr (requires { Shape::head_dim_v; }) return Shape::head_dim_v;
  return Shape::head_dim;
}

template <class Shape, class Storage>
KernelVariant mma_variant(const char* family, const char* name, VariantSet set,
                          const void* function) {
  return {.family = family,
          .name = name,
          .head_dim = Shape::head_dim,
          .head_dim_v = head_dim_v_of<Shape>(),
          .tiling = Shape::tiling(),
          .dtype = element_type<typename Shape::Element>,
          .warps = Shape::warps,
          .stages = Shape::stages,
          .ctas_per_sm = Shape::ctas_per_sm,
          .shared_bytes = shared_bytes_of<Storage>(),
          .function = function,
          .study = set == VariantSet::study};
}

}  // namespace sawtooth::kernels
