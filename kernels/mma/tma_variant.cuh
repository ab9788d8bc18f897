// The kernel on mma.sync that loads by the copy engine, and its rows of the variant table.
#pragma once

#include "kernels/mma/tma_loader.cuh"
#include "kernels/mma/variant.cuh"

namespace sawtooth::kernels {

/// The kernel of forward.cuh with loads by the copy engine, for sm_90 and later.
template <class Shape>
__global__ __launch_bounds__(Shape::threads, Shape::ctas_per_sm) void forward_tma_kernel(
    const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
    const __grid_constant__ CUtensorMap v_map, const __grid_constant__ ForwardArguments arguments) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ unsigned char raw[];
  auto& storage = aligned_storage<TmaStorage<Shape>>(raw);
  const TensorMaps maps{q_map, k_map, v_map};
  TmaLoader<Shape> loader(arguments, storage, maps);
  forward_cta<Shape>(arguments, OwnResults{}, storage, loader);
#endif
}

template <class Shape, bool, bool, bool>
KernelVariant tma_variant(const char* family, const char* name, VariantSet set) {
  constexpr int first_with_tma = 90;  // compute capability 9.0
  KernelVariant row = mma_variant<Shape, TmaStorage<Shape>>(
      family, name, set, reinterpret_cast<const void*>(&forward_tma_kernel<Shape>));
  row.from_compute_capability = first_with_tma;
  row.q_box = {Shape::q_rows, Shape::QTile::panel_columns};
  row.kv_box = {Shape::kv_rows, Shape::KvTile::panel_columns};
  return row;
}

}  // namespace sawtooth::kernels

#undef SAWTOOTH_VARIANT
#define SAWTOOTH_VARIANT(family, function, type, name, set, head_dim, head_dim_v, q_rows, kv_rows, \
                         ctas, bytes, ...)                                                         \
  SAWTOOTH_MMA_VARIANT(tma_variant, family, function, type, name, set, head_dim, head_dim_v,       \
                       q_rows, kv_rows, ctas, __VA_ARGS__)
