// Tiles from global to shared memory by the copy engine, completing on a barrier.
// PTX ISA: "cp.async.bulk.tensor", "cp.async.bulk.prefetch.L2", "createpolicy".
//
// The tensor map (tensor_map.hpp) cuts a [batch, head, row, head_dim] tensor into panels of 64 (or
// 32) elements: a tile arrives as [panel][row][64], each panel in the swizzle of its row's bytes.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "kernels/tma/barrier.cuh"

namespace sawtooth::kernels {

__device__ inline void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Makes what the host has copied to a map in global memory visible to later copies of this thread
/// (PTX ISA, "fence.proxy").
__device__ inline void acquire_tensor_map(const CUtensorMap& map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(&map) : "memory");
}

// The copy goes to this CTA's own shared memory. From compute capability 10.0 on ptxas guards a
// `.shared::cluster` address by a call; `.shared::cta` (PTX ISA 8.6) needs none.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define SAWTOOTH_OWN_SHARED "shared::cta"
#else
#define SAWTOOTH_OWN_SHARED "shared::cluster"
#endif

/// Starts the copy of all panels of rows [row, row + box rows) of one head, or of the panel at
/// `column` where the map has them in one row (tensor_map.hpp); what lies past the end arrives as
/// zeros. By one thread; the bytes of the whole box count on `barrier`.
__device__ inline void load_tile(void* to, const CUtensorMap& map, Barrier& barrier, int32_t row,
                                 int32_t head, int32_t batch, uint64_t l2_policy,
                                 int32_t column = 0) {
  asm volatile(
      "cp.async.bulk.tensor.5d." SAWTOOTH_OWN_SHARED
      ".global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(shared_address(to)),
      "l"(&map), "r"(shared_address(&barrier)), "r"(column), "r"(row), "r"(0), "r"(head),
      "r"(batch), "l"(l2_policy)
      : "memory");
}

/// Asks for the same tile in L2 alone, without a wait.
__device__ inline void prefetch_tile_to_l2(const CUtensorMap& map, int32_t row, int32_t head,
                                           int32_t batch, uint64_t l2_policy) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.5d.L2.global.tile.L2::cache_hint [%0, {%1, %2, %3, %4, %5}], "
      "%6;" ::"l"(&map),
      "r"(0), "r"(row), "r"(0), "r"(head), "r"(batch), "l"(l2_policy)
      : "memory");
}

/// Asks for `bytes` (a multiple of 16) from `address` (16-byte aligned) in L2, without a wait.
__device__ inline void prefetch_bytes_to_l2(const void* address, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(address), "r"(bytes) : "memory");
}

}  // namespace sawtooth::kernels
