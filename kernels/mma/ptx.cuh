// The PTX instructions that attention is made of, each wrapped in one function (PTX ISA 8.0,
// chapters "Matrix multiply-accumulate" mma and ldmatrix, "cp.async", "prefetch", "ex2").
// Fragment layouts are in kernels/mma/shared_tile.hpp.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace sawtooth::kernels {

/// Address of `pointer` in the shared window, as ldmatrix and cp.async want it.
__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void load_matrices(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

/// As load_matrices, each matrix transposed on its way.
__device__ inline void load_matrices_transposed(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

__device__ inline void store_32_bits(uint32_t to, uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

/// 16 bytes from global to shared memory through L2 only; `policy` is an L2 cache policy.
__device__ inline void copy_16_bytes(uint32_t to, const void* from, uint64_t policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "l"(policy)
               : "memory");
}

/// As copy_16_bytes, but writes zeros and reads nothing when `valid` is false.
__device__ inline void copy_16_bytes_or_zero(uint32_t to, const void* from, uint64_t policy,
                                             bool valid) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to),
               "l"(from), "r"(valid ? 16 : 0), "l"(policy)
               : "memory");
}

__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `Pending` of the youngest groups of this thread are in flight.
template <int Pending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Asks for the line at `address` in L2, without a wait.
__device__ inline void prefetch_to_l2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address) : "memory");
}

/// An addition in L2 that returns nothing.
__device__ inline void reduce_add(float* to, float value) {
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(value) : "memory");
}

#if __CUDA_ARCH__ >= 900
/// Both at once; `to` is aligned to 8 bytes.
__device__ inline void reduce_add(float* to, float low, float high) {
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(low), "f"(high) : "memory");
}
/// Four at once; `to` is aligned to 16 bytes.
__device__ inline void reduce_add(float* to, const float (&values)[4]) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(values[0]),
               "f"(values[1]), "f"(values[2]), "f"(values[3])
               : "memory");
}
#endif

/// Waits at barrier `number`, 1 to 15, for `threads` threads, whole warps.
__device__ inline void wait_for_threads(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// What another CTA knew when it released `*at` is seen behind this.
__device__ inline unsigned load_acquire(const unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
/// Counts at `at` from 0 to `most` and on to 0, and returns what was there: what this thread has
/// seen is seen by whoever counts later, in one round trip.
__device__ inline unsigned arrive(unsigned* at, unsigned most) {
  unsigned before;
  asm volatile("atom.inc.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(at), "r"(most)
               : "memory");
  return before;
}

__device__ inline void store_release(unsigned* at, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

/// 2^x with a relative error of 2^-22; 2^-inf is 0.
__device__ inline float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// threadIdx.x, read anew where it is called: what follows from it is then computed where it is
/// needed instead of being kept in registers across the main loop.
__device__ inline int thread_number() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

/// The same for another value.
__device__ inline int64_t read_anew(int64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

__device__ inline uint32_t sm_number() {
  uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

__device__ inline uint64_t nanoseconds() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

/// c += a b with a 16x8, b 8x8, c 16x8; tensor cores read the upper 19 bits of the numbers.
__device__ inline void multiply_add_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// What differs between the element types: the instruction and the rounding of pairs.
template <class Element>
struct TensorCore;

template <>
struct TensorCore<__nv_bfloat16> {
  /// c += a b with a 16x16, b 16x8, c 16x8.
  __device__ static void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                      uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  /// Both rounded to nearest; `low` in the lower half.
  __device__ static uint32_t pack(float low, float high) {
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
  }
};

template <>
struct TensorCore<__half> {
  __device__ static void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                      uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  __device__ static uint32_t pack(float low, float high) {
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
  }
};

}  // namespace sawtooth::kernels
