// Who waits for the copy engine: mbarriers in shared memory. PTX ISA: "mbarrier".
//
// An mbarrier has a phase bit that flips when all expected arrivals (and bytes) have come. Waiting
// for parity p returns once the phase with parity p is over, so a fresh barrier lets a wait for
// parity 1 pass: producers start with 1, consumers with 0.
#pragma once

#include <cstdint>

#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels {

/// A barrier in shared memory; all functions take part of one CTA.
struct Barrier {
  uint64_t state;

  /// By one thread, before fence_initialised_barriers and __syncthreads.
  __device__ void initialise(uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
                 "r"(arrivals)
                 : "memory");
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
  }
  /// Arrives, and makes the phase wait for `bytes` that the copy engine will write.
  __device__ void arrive_expecting(uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)),
        "r"(bytes)
        : "memory");
  }
  __device__ bool try_wait(uint32_t parity) {
    uint32_t done;
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(this)), "r"(parity)
        : "memory");
    return done != 0;
  }
  __device__ void wait(uint32_t parity) {
#if defined(SAWTOOTH_BOUNDED_WAITS)
    // For debugging only: the exit inside a batch of wgmma makes ptxas serialise them.
    constexpr uint32_t patience = 1 << 26;  // tries; seconds, no correct launch takes as long
    for (uint32_t tries = 0; !try_wait(parity); ++tries) {
      if (tries == patience) asm volatile("trap;");
    }
#else
    while (!try_wait(parity)) {
    }
#endif
  }
};

/// Makes initialised barriers visible to the copy engine.
__device__ inline void fence_initialised_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Orders this thread's own accesses to shared memory before copies that are started later.
__device__ inline void fence_before_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Where a ring of `Stages` stages stands: the stage, and the parity its user waits for.
template <int Stages>
struct RingPosition {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace sawtooth::kernels
