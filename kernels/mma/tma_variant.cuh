// One row of the variant table for a kernel on mma.sync that loads by the copy engine.
#pragma once

#include "kernels/mma/forward_tma.cuh"
#include "kernels/mma/variant.cuh"

namespace sawtooth::kernels {

template <class Shape, bool>
KernelVariant tma_variant(const char* family, const char* name, VariantSet set) {
  constexpr int first_with_tma = 90;  // compute capability 9.0
  KernelVariant row = mma_variant<Shape, TmaStorage<Shape>>(
      family, name, set, reinterpret_cast<const void*>(&forward_tma_kernel<Shape>));
  row.from_compute_capability = first_with_tma;
  row.q_box = {Shape::q_rows, Shape::QTile::panels, Shape::QTile::panel_columns};
  row.kv_box = {Shape::kv_rows, Shape::KvTile::panels, Shape::KvTile::panel_columns};
  return row;
}

}  // namespace sawtooth::kernels

#undef SAWTOOTH_VARIANT
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, q_rows, kv_rows, ctas,      \
                         bytes, ...)                                                              \
  SAWTOOTH_MMA_VARIANT(tma_variant, family, function, type, name, set, head_dim, q_rows, kv_rows, \
                       ctas, __VA_ARGS__)
