// Instructions of sm_90a beside wgmma and tensor copies.
#pragma once

#include <cstdint>

#include "kernels/hopper/barrier.cuh"

namespace sawtooth::kernels::hopper {

// Plain bulk copies of the copy engine: bytes that follow each other, without a tensor map.
// PTX ISA: "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.commit_group / wait_group".

/// Starts the copy of `bytes` (a multiple of 16, both ends aligned to 16), which count on
/// `barrier`.
__device__ inline void load_bytes(void* to, const void* from, uint32_t bytes, Barrier& barrier,
                                  uint64_t l2_policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(&barrier)), "l"(l2_policy)
      : "memory");
}

/// Starts the addition of floats in shared memory to as many in global memory, in L2: `bytes` a
/// multiple of 16, both ends aligned to 16. What was written to `from` is seen after
/// fence_before_copies of the writers and a barrier.
__device__ inline void add_bytes(float* to, const float* from, uint32_t bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
      "r"(shared_address(from)), "r"(bytes)
      : "memory");
}

/// The group has this thread's additions, and copies from shared memory, since the last one.
__device__ inline void commit_copies() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all groups of this thread have read their shared memory.
__device__ inline void wait_until_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Waits until all have written.
__device__ inline void wait_until_written() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// The end of one launch under the beginning of the next. PTX ISA: "griddepcontrol"; CUDA C++
// Programming Guide: "Programmatic Dependent Launch and Synchronization".
//
// A launch with this attribute may begin while the launch before it in the stream still runs, as
// soon as all CTAs of that one have allowed it, and takes the SMs that become free. What it does
// before `wait_for_launch_before` must read and write nothing that other launches write or read.
// Before sm_90 launches never overlap.

/// On the device: the next launch of the stream may begin where it finds room.
__device__ inline void let_next_launch_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// By every thread before its first access to global memory: all launches before are over.
__device__ inline void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// dS^T from accumulators to shared memory as dS: a row a query, in the layout of wgmma's operands.
// PTX ISA: "stmatrix".

/// Four 8x8 matrices of 16-bit elements, each transposed on its way; lane l gives the address of
/// row l % 8 of matrix l / 8 as it lies in memory (shape.hpp).
__device__ inline void store_matrices_transposed(uint32_t to, const uint32_t* from) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

/// Number of this CTA in the grid, read anew where it is called: producers have no register to keep
/// it in.
__device__ inline uint32_t cta_number() {
  uint32_t cta;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cta));
  return cta;
}

}  // namespace sawtooth::kernels::hopper
