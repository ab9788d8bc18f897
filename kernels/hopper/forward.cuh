// The forward kernel for sm_90a: warpgroup 0 produces (one warp finds items, one walks their tiles,
// one loads), the others consume. kernels/hopper/README.md follows the data's way through a tile.
#pragma once

#include "kernels/hopper/consumer.cuh"
#include "kernels/hopper/instructions.cuh"
#include "kernels/hopper/loader.cuh"
#include "kernels/hopper/scan_warp.cuh"
#include "kernels/hopper/scheduler_warp.cuh"

namespace sawtooth::kernels::hopper {

/// One thread of each of three warps works, the rest of the warpgroup waits for the end.
template <class Shape>
__device__ void produce(SharedStorage<Shape>& shared, const CUtensorMap& q_map,
                        const CUtensorMap& k_map, const CUtensorMap& v_map) {
  constexpr int loader_thread = 0;
  constexpr int scheduler_thread = 32;
  constexpr int scan_thread = 64;
  if (threadIdx.x == loader_thread) {
    Loader<Shape>(shared, q_map, k_map, v_map).run();
  } else if (threadIdx.x == scheduler_thread) {
    SchedulerWarp<Shape, decltype(shared.hand)>(shared.hand).run();
  } else if (threadIdx.x == scan_thread) {
    ScanWarp<Shape, decltype(shared.hand)>(shared.hand).run();
  }
  __syncwarp();
}

template <class Shape, class Arguments, class Results>
__device__ __forceinline__ void forward_cta(const CUtensorMap& q_map, const CUtensorMap& k_map,
                                            const CUtensorMap& v_map, const Arguments& arguments,
                                            const Results& results) {
  extern __shared__ unsigned char memory[];
  const uintptr_t start = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (start + swizzle_group_bytes - 1) / swizzle_group_bytes;
  auto& shared = *reinterpret_cast<SharedStorage<Shape>*>(aligned * swizzle_group_bytes);
  let_next_launch_begin();
  if (threadIdx.x == 0) {
    if constexpr (!Shape::packed) {
      prefetch_tensor_map(q_map);
      prefetch_tensor_map(k_map);
      prefetch_tensor_map(v_map);
    }
    shared.initialise_barriers();
    shared.hand.arguments = arguments;
    fence_initialised_barriers();
  }
  __syncthreads();

  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / warpgroup_threads, 0);
  if (warpgroup == 0) {
    shrink_registers<Shape::producer_registers>();
    produce(shared, q_map, k_map, v_map);
  } else {
    grow_registers<Shape::consumer_registers>();
    wait_for_launch_before();
    Consumer<Shape, Results>(arguments, results, shared, warpgroup - 1).run();
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    forward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
            const __grid_constant__ CUtensorMap v_map,
            const __grid_constant__ ForwardArguments arguments) {
  forward_cta<Shape>(q_map, k_map, v_map, arguments, OwnResults{});
}

/// The same kernel over sequences of different lengths.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    forward_packed(const __grid_constant__ PackedArguments arguments) {
  const auto* const maps = static_cast<const CUtensorMap*>(arguments.maps);
  forward_cta<Shape>(maps[0], maps[1], maps[2], arguments, OwnResults{});
}

/// The same kernel under a mask that is lists of tiles.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    forward_listed(const __grid_constant__ CUtensorMap q_map,
                   const __grid_constant__ CUtensorMap k_map,
                   const __grid_constant__ CUtensorMap v_map,
                   const __grid_constant__ ListedArguments arguments) {
  forward_cta<Shape>(q_map, k_map, v_map, arguments, OwnResults{});
}

/// The same kernel with another end: results are added to those of the calls before.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    forward_running(const __grid_constant__ CUtensorMap q_map,
                    const __grid_constant__ CUtensorMap k_map,
                    const __grid_constant__ CUtensorMap v_map,
                    const __grid_constant__ ForwardArguments arguments,
                    const __grid_constant__ RunningResults results) {
  forward_cta<Shape>(q_map, k_map, v_map, arguments, results);
}

/// The same kernel with another way for O: through shared memory and the copy engine.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::ctas_per_sm)
    forward_short(const __grid_constant__ CUtensorMap q_map,
                  const __grid_constant__ CUtensorMap k_map,
                  const __grid_constant__ CUtensorMap v_map,
                  const __grid_constant__ CUtensorMap o_map,
                  const __grid_constant__
                  typename SharedStorage<Shape>::Hand::Arguments arguments) {
  extern __shared__ unsigned char memory[];
  const uint32_t start = shared_address(memory);
  const uint32_t aligned =
      (start + swizzle_group_bytes - 1) / swizzle_group_bytes * swizzle_group_bytes;
  if (threadIdx.x == 0) prefetch_tensor_map(o_map);
  forward_cta<Shape>(q_map, k_map, v_map, arguments,
                     CopiedResults{o_map, aligned + uint32_t(sizeof(SharedStorage<Shape>))});
}

}  // namespace sawtooth::kernels::hopper
