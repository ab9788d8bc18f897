// Bulk copies from global to shared memory (PTX ISA, "cp.async.bulk"; compute capability 9.0 on).
#pragma once

#include <cstdint>

#include "kernels/tma/barrier.cuh"

namespace sawtooth::kernels {

/// Starts a copy that counts on `barrier`. `bytes` is a multiple of 16, both addresses are 16-byte
/// aligned.
__device__ inline void bulk_copy(void* to_shared, const void* from_global, uint32_t bytes,
                                 Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to_shared)),
      "l"(__cvta_generic_to_global(from_global)), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}

}  // namespace sawtooth::kernels
