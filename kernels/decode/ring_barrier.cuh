// The barriers of kernels/tma on every architecture that has mbarriers, from sm_80 on: there a wait
// asks again and again, and nothing but threads writes, so that no fence is needed.
#pragma once

#include "kernels/tma/barrier.cuh"

namespace sawtooth::kernels::decode {

struct RingBarrier : Barrier {
  /// This thread arrives once its copies by cp.async so far have landed.
  __device__ void arrive_behind_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(this))
                 : "memory");
  }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __device__ void wait(uint32_t parity) {
    uint32_t done = 0;
    while (done == 0)
      asm volatile(
          "{\n.reg .pred p;\n"
          "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(shared_address(this)), "r"(parity)
          : "memory");
  }
#endif
};

__device__ inline void wait_for_all_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ inline void fence_ring_barriers() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  fence_initialised_barriers();
#endif
}

}  // namespace sawtooth::kernels::decode
