// The same kernel with loads by the copy engine, for sm_90 and later.
#pragma once

#include "kernels/mma/forward.cuh"
#include "kernels/mma/tma_loader.cuh"

namespace sawtooth::kernels {

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

}  // namespace sawtooth::kernels
