// Rows of the variant table of the kernels for short sequences.
#pragma once

#include "kernels/hopper/variant.cuh"

#undef SAWTOOTH_VARIANT

namespace sawtooth::kernels::hopper {

/// `Listed`: with the kernel for lists of tiles.
template <class Shape, bool Listed>
KernelVariant short_variant(const char* family, const char* name, VariantSet set, int64_t most_keys,
                            const TileCost& cost) {
  KernelVariant row = hopper_row<Shape>(family, name, set, cost);
  row.function = reinterpret_cast<const void*>(&forward_short<Shape>);
  row.shared_bytes += Shape::o_bytes;
  if constexpr (Listed) {
    row.listed_function = reinterpret_cast<const void*>(&forward_short<ListedShape<Shape>>);
    row.listed_shared_bytes = shared_bytes<ListedShape<Shape>> + Shape::o_bytes;
  }
  row.ctas_per_sm = Shape::ctas_per_sm;
  row.fills_sm = Shape::ctas_per_sm == 1;
  row.o_box = {.rows = copied_rows, .one_panel = true};
  row.most_keys = most_keys;
  return row;
}

}  // namespace sawtooth::kernels::hopper

// As in variant.cuh, of the columns of kernels/attention/variants.inc.
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, head_dim_v, tile_q, kv_rows, \
                         ctas, bytes, consumers, stages, overlap, most_keys, alone, us, ns,        \
                         masked_us, masked_ns)                                                     \
  namespace sawtooth::kernels {                                                                    \
  KernelVariant function() {                                                                       \
    using Shape = hopper::ShortShape<hopper::Shape<hopper::element_##type, head_dim, consumers,    \
                                                   kv_rows, stages, hopper::Overlap::overlap>,     \
                                     ctas>;                                                        \
    static_assert(Shape::q_rows == tile_q, "Q rows are 64 for each consumer");                     \
    return hopper::short_variant<Shape, takes_lists(families::family, #name)>(                     \
        families::family, #type "_" #name, VariantSet::set, most_keys,                             \
        {{us, ns}, {masked_us, masked_ns}, alone});                                                \
  }                                                                                                \
  }
