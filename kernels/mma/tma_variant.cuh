// One row of the variant table for a kernel that loads by the copy engine.
#pragma once

#include "kernels/mma/forward_tma.cuh"
#include "kernels/mma/variant.cuh"

namespace sawtooth::kernels {

template <class Shape>
KernelVariant tma_variant_of(ElementType dtype) {
  constexpr int first_with_tma = 90;  // compute capability 9.0
  KernelVariant row = variant_of<Shape, TmaLoader<Shape>>(
      dtype, reinterpret_cast<const void*>(&forward_tma_kernel<Shape>));
  row.from_compute_capability = first_with_tma;
  row.loads_by_copy_engine = true;
  row.panel_columns = Shape::KvTile::panel_columns;
  return row;
}

}  // namespace sawtooth::kernels

// name, head dim, Q rows, K/V rows, warps, stages, score columns, Q in registers, CTAs an SM
#define SAWTOOTH_FORWARD_TMA_VARIANT(name, ...) \
  SAWTOOTH_VARIANT_OF(tma_variant_of, name, __VA_ARGS__)
