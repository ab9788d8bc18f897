// One row of the variant table from the shape of a Hopper kernel.
#pragma once

#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/hopper/forward.cuh"

namespace sawtooth::kernels::hopper {

/// All but the kernels themselves.
template <class Shape>
KernelVariant hopper_row(const char* family, const char* name, VariantSet set,
                         const TileCost& cost) {
  constexpr int hopper = 90;
  const bool bf16 = std::is_same_v<typename Shape::Element, __nv_bfloat16>;
  return {.family = family,
          .name = name,
          .head_dim = Shape::head_dim,
          .head_dim_v = Shape::head_dim_v,
          .tiling = Shape::tiling(),
          .dtype = bf16 ? ElementType::bf16 : ElementType::fp16,
          .warps = Shape::threads / 32,
          .stages = Shape::stages,
          .ctas_per_sm = 1,
          .shared_bytes = shared_bytes<Shape>,
          .compute_capability = hopper,
          .q_box = {Shape::q_rows / Shape::q_boxes},
          .kv_box = {Shape::kv_rows},
          .merges_pieces = true,
          .fills_sm = true,
          .begins_early = true,
          .cost = cost};
}

/// `Packed`: with the kernel for packed sequences; `Listed`: with that for lists of tiles.
template <class Shape, bool Packed, bool Listed>
KernelVariant hopper_variant(const char* family, const char* name, VariantSet set,
                             const TileCost& cost) {
  KernelVariant row = hopper_row<Shape>(family, name, set, cost);
  row.function = reinterpret_cast<const void*>(&forward<Shape>);
  row.running_function = reinterpret_cast<const void*>(&forward_running<Shape>);
  if constexpr (Packed) {
    row.packed_function = reinterpret_cast<const void*>(&forward_packed<PackedShape<Shape>>);
    row.packed_shared_bytes = shared_bytes<PackedShape<Shape>>;
  }
  if constexpr (Listed) {
    row.listed_function = reinterpret_cast<const void*>(&forward_listed<ListedShape<Shape>>);
    row.listed_shared_bytes = shared_bytes<ListedShape<Shape>>;
  }
  return row;
}

/// The shape, with a narrower V where it is.
template <class Base, int HeadDimV>
using ShapeWithV =
    std::conditional_t<HeadDimV == Base::head_dim, Base, NarrowVShape<Base, HeadDimV>>;

using element_bf16 = __nv_bfloat16;
using element_fp16 = __half;

}  // namespace sawtooth::kernels::hopper

// Defines `function()`, which kernels/attention/variant_table.cpp calls, from the columns of
// kernels/attention/variants.inc.
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, head_dim_v, tile_q, kv_rows, \
                         ctas, bytes, consumers, stages, overlap, us, ns, masked_us, masked_ns)    \
  namespace sawtooth::kernels {                                                                    \
  KernelVariant function() {                                                                       \
    using Shape = hopper::ShapeWithV<hopper::Shape<hopper::element_##type, head_dim, consumers,    \
                                                   kv_rows, stages, hopper::Overlap::overlap>,     \
                                     head_dim_v>;                                                  \
    static_assert(Shape::q_rows == tile_q, "Q rows are 64 for each consumer");                     \
    return hopper::hopper_variant<Shape, takes_packed(families::family, #name),                    \
                                  takes_lists(families::family, #name)>(                           \
        families::family, #type "_" #name, VariantSet::set, {{us, ns}, {masked_us, masked_ns}});   \
  }                                                                                                \
  }
