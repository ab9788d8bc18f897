// One row of the variant table from the shape of a backward kernel.
#pragma once

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/hopper/backward/backward.cuh"

namespace sawtooth::kernels::hopper {

/// `Shape` adds to dQ in any order, `Ordered` in turn.
template <class Shape, class Ordered>
KernelVariant backward_variant(const char* family, const char* name, VariantSet set) {
  constexpr int hopper = 90;
  static_assert(!Shape::ordered && Ordered::ordered &&
                backward_shared_bytes<Shape> == backward_shared_bytes<Ordered>);
  const bool bf16 = std::is_same_v<typename Shape::Element, __nv_bfloat16>;
  return {.family = family,
          .name = name,
          .head_dim = Shape::head_dim,
          .head_dim_v = Shape::head_dim,
          .tiling = Shape::tiling(),
          .dtype = bf16 ? ElementType::bf16 : ElementType::fp16,
          .warps = Shape::threads / 32,
          .stages = Shape::stages,
          .ctas_per_sm = 1,
          .shared_bytes = backward_shared_bytes<Shape>,
          .function = reinterpret_cast<const void*>(&backward<Shape>),
          .ordered_function = reinterpret_cast<const void*>(&backward<Ordered>),
          .compute_capability = hopper,
          .q_box = {Shape::q_rows},
          .kv_box = {Shape::kv_rows},
          .fills_sm = true,
          .begins_early = true,
          .study = set == VariantSet::study,
          .dq_in_parts = true};
}

using element_bf16 = __nv_bfloat16;
using element_fp16 = __half;

}  // namespace sawtooth::kernels::hopper

// Defines `function()`, which kernels/attention/variant_table.cpp calls, from the columns of
// kernels/attention/variants.inc.
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas, \
                         bytes, stages, part_rows)                                           \
  namespace sawtooth::kernels {                                                              \
  template <bool Ordered>                                                                    \
  using Shape_##function = hopper::BackwardShape<hopper::element_##type, head_dim, q_rows,   \
                                                 kv_rows, stages, part_rows, Ordered>;       \
  KernelVariant function() {                                                                 \
    return hopper::backward_variant<Shape_##function<false>, Shape_##function<true>>(        \
        families::family, #type "_" #name, VariantSet::set);                                 \
  }                                                                                          \
  }
