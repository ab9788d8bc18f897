// Decode attention: few query rows against long K and V, bound by the memory's speed. A persistent
// CTA has equal shares of all K/V work (scheduler/kv_shares.hpp); one warp brings the tiles of its
// pieces (loader.cuh), the others multiply (consumer.cuh) and merge (merge.cuh). README.md has the
// whole.
#pragma once

#include "kernels/decode/consumer.cuh"
#include "kernels/decode/loader.cuh"

namespace sawtooth::kernels::decode {

/// `memory` is the CTA's dynamic shared memory.
template <class Shape, class Copies>
__device__ __forceinline__ void decode_cta(unsigned char* memory, const DecodeArguments& arguments,
                                           const Copies& copies) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(memory);
  auto& storage = *reinterpret_cast<Storage<Shape>*>((start + tile_alignment - 1) / tile_alignment *
                                                     tile_alignment);
  hopper::let_next_launch_begin();
  if (threadIdx.x == Shape::consumer_threads) copies.prepare();
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Shape::stages; ++stage) {
      storage.full[stage].initialise(Copies::full_arrivals);
      storage.empty[stage].initialise(Shape::consumer_warps);
    }
    for (int slot = 0; slot < work_slots; ++slot) {
      storage.work_full[slot].initialise(1);
      storage.work_empty[slot].initialise(Shape::consumer_warps);
    }
    fence_ring_barriers();
  }
  __syncthreads();
  if (threadIdx.x < Shape::consumer_threads) {
    hopper::wait_for_launch_before();
    Consumer<Shape>(arguments, storage).run();
  } else {
    load_shares(arguments, storage, copies);
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::ctas_per_sm)
    decode_async(const __grid_constant__ DecodeArguments arguments) {
  extern __shared__ unsigned char memory[];
  decode_cta<Shape>(memory, arguments, AsyncCopies<Shape>(arguments));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::ctas_per_sm)
    decode_tma(const __grid_constant__ CUtensorMap k_map, const __grid_constant__ CUtensorMap v_map,
               const __grid_constant__ DecodeArguments arguments) {
  extern __shared__ unsigned char memory[];
  decode_cta<Shape>(memory, arguments, TmaCopies<Shape>(arguments, k_map, v_map));
}
#endif

}  // namespace sawtooth::kernels::decode
