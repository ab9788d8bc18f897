// The forward kernel for sm_90a: warpgroup 0 produces (one warp decides, one loads), the others
// consume. kernels/hopper/README.md follows the data's way through a tile.
#pragma once

#include "kernels/hopper/consumer.cuh"
#include "kernels/hopper/loader.cuh"
#include "kernels/hopper/scheduler_warp.cuh"

namespace sawtooth::kernels::hopper {

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    forward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
            const __grid_constant__ CUtensorMap v_map,
            const __grid_constant__ ForwardArguments arguments) {
  extern __shared__ unsigned char memory[];
  const uintptr_t start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (start + swizzle_group_bytes - 1) / swizzle_group_bytes;
  auto& shared = *reinterpret_cast<SharedStorage<Shape>*>(aligned * swizzle_group_bytes);
  if (threadIdx.x == 0) {
    shared.initialise_barriers();
    shared.arguments = arguments;
    fence_initialised_barriers();
  }
  __syncthreads();

  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / warpgroup_threads, 0);
  if (warpgroup == 0) {
    shrink_registers<Shape::producer_registers>();
    constexpr int loader_thread = 0;
    constexpr int scheduler_thread = 32;
    if (threadIdx.x == loader_thread) {
      Loader<Shape>(shared, q_map, k_map, v_map).run();
    } else if (threadIdx.x == scheduler_thread) {
      run_scheduler(shared);
    }
  } else {
    grow_registers<Shape::consumer_registers>();
    Consumer<Shape>(arguments, shared, warpgroup - 1).run();
  }
}

}  // namespace sawtooth::kernels::hopper
