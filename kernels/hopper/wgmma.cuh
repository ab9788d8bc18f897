// Warpgroup matrix multiply-add, D(64 x N) += A(64 x 16) B(16 x N), 16-bit in, 32-bit accumulators.
// PTX ISA: "wgmma.mma_async", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group".
//
// The instruction is asynchronous: between issue and wait no thread may touch its accumulators or
// its A registers. `fence` comes before the first instruction of a batch and after registers that
// it reads were written; `pin` tells the compiler that a wait has changed the accumulators.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace sawtooth::kernels::hopper {

__device__ inline void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `Pending` of the youngest groups are in flight.
template <int Pending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

template <int Count>
__device__ inline void pin(float (&registers)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}
template <int Count>
__device__ inline void pin(uint32_t (&registers)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}
template <int Slices>
__device__ inline void pin(uint32_t (&fragments)[Slices][4]) {
#pragma unroll
  for (int slice = 0; slice < Slices; ++slice) pin(fragments[slice]);
}

/// The instruction with N columns. `from_shared`: A and B by descriptor, both with the contraction
/// dimension contiguous. `from_shared_columns`: the same, but B with its columns contiguous.
/// `from_registers`: A in registers, B with its columns contiguous; `from_registers_rows`: B as in
/// `from_shared`.
template <class Element, int N>
struct Wgmma;

// The operand lists of the instructions, ten registers and ten operands at a time.
#define SAWTOOTH_TEN(t)                                                                            \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t \
  "9"
#define SAWTOOTH_FIRST_TEN "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9"
#define SAWTOOTH_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SAWTOOTH_D8(i) SAWTOOTH_D4(i), SAWTOOTH_D4(i + 4)
#define SAWTOOTH_D32(i) SAWTOOTH_D8(i), SAWTOOTH_D8(i + 8), SAWTOOTH_D8(i + 16), SAWTOOTH_D8(i + 24)

#define SAWTOOTH_REGISTERS_64 \
  SAWTOOTH_FIRST_TEN ", " SAWTOOTH_TEN(1) ", " SAWTOOTH_TEN(2) ", %30, %31"
#define SAWTOOTH_ACCUMULATORS_64 SAWTOOTH_D32(0)
#define SAWTOOTH_REGISTERS_80 \
  SAWTOOTH_FIRST_TEN ", " SAWTOOTH_TEN(1) ", " SAWTOOTH_TEN(2) ", " SAWTOOTH_TEN(3)
#define SAWTOOTH_ACCUMULATORS_80 SAWTOOTH_D32(0), SAWTOOTH_D8(32)
#define SAWTOOTH_REGISTERS_128                                                    \
  SAWTOOTH_FIRST_TEN ", " SAWTOOTH_TEN(1) ", " SAWTOOTH_TEN(2) ", " SAWTOOTH_TEN( \
      3) ", " SAWTOOTH_TEN(4) ", " SAWTOOTH_TEN(5) ", %60, %61, %62, %63"
#define SAWTOOTH_ACCUMULATORS_128 SAWTOOTH_D32(0), SAWTOOTH_D32(32)
#define SAWTOOTH_REGISTERS_176 \
  SAWTOOTH_FIRST_TEN ", " SAWTOOTH_TEN(1) ", " SAWTOOTH_TEN(2) ", " SAWTOOTH_TEN(3) ", " SAWTOOTH_TEN(4) ", " SAWTOOTH_TEN(5) ", " SAWTOOTH_TEN(6) ", " SAWTOOTH_TEN(7) ", %80, %81, %82, %83, %84, %85, %86, %87"
#define SAWTOOTH_ACCUMULATORS_176 \
  SAWTOOTH_D32(0), SAWTOOTH_D32(32), SAWTOOTH_D8(64), SAWTOOTH_D8(72), SAWTOOTH_D8(80)
#define SAWTOOTH_REGISTERS_256 \
  SAWTOOTH_FIRST_TEN ", " SAWTOOTH_TEN(1) ", " SAWTOOTH_TEN(2) ", " SAWTOOTH_TEN(3) ", " SAWTOOTH_TEN(4) ", " SAWTOOTH_TEN(5) ", " SAWTOOTH_TEN(6) ", " SAWTOOTH_TEN(7) ", " SAWTOOTH_TEN(8) ", " SAWTOOTH_TEN(9) ", " SAWTOOTH_TEN(10) ", " SAWTOOTH_TEN(11) ", %120, %121, %122, %123, %124, %125, %126, %127"
#define SAWTOOTH_ACCUMULATORS_256 \
  SAWTOOTH_D32(0), SAWTOOTH_D32(32), SAWTOOTH_D32(64), SAWTOOTH_D32(96)

#define SAWTOOTH_WGMMA(ELEMENT, TYPE, N, A0, A1, A2, A3, B, ACCUMULATE)                            \
  template <>                                                                                      \
  struct Wgmma<ELEMENT, N> {                                                                       \
    __device__ static void from_shared(float (&d)[N / 2], uint64_t a, uint64_t b,                  \
                                       int accumulate) {                                           \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #A2                                        \
                   ", 0;\n"                                                                        \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                 \
                   " {" SAWTOOTH_REGISTERS_##N "}, %" #A0 ", %" #A1 ", p, 1, 1, 0, 0;\n}"          \
                   : SAWTOOTH_ACCUMULATORS_##N                                                     \
                   : "l"(a), "l"(b), "r"(accumulate));                                             \
    }                                                                                              \
    __device__ static void from_shared_columns(float (&d)[N / 2], uint64_t a, uint64_t b,          \
                                               int accumulate) {                                   \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #A2                                        \
                   ", 0;\n"                                                                        \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                 \
                   " {" SAWTOOTH_REGISTERS_##N "}, %" #A0 ", %" #A1 ", p, 1, 1, 0, 1;\n}"          \
                   : SAWTOOTH_ACCUMULATORS_##N                                                     \
                   : "l"(a), "l"(b), "r"(accumulate));                                             \
    }                                                                                              \
    __device__ static void from_registers(float (&d)[N / 2], const uint32_t* a, uint64_t b) {      \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #ACCUMULATE                                \
                   ", 0;\n"                                                                        \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                 \
                   " {" SAWTOOTH_REGISTERS_##N "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B \
                                               ", p, 1, 1, 1;\n}"                                  \
                   : SAWTOOTH_ACCUMULATORS_##N                                                     \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(1));                  \
    }                                                                                              \
    __device__ static void from_registers_rows(float (&d)[N / 2], const uint32_t (&a)[4],          \
                                               uint64_t b, int accumulate) {                       \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #ACCUMULATE                                \
                   ", 0;\n"                                                                        \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                 \
                   " {" SAWTOOTH_REGISTERS_##N "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B \
                                               ", p, 1, 1, 0;\n}"                                  \
                   : SAWTOOTH_ACCUMULATORS_##N                                                     \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));         \
    }                                                                                              \
  };
// The six numbers are those of the operands after the accumulators.
#define SAWTOOTH_WGMMA_TYPES(...)                    \
  SAWTOOTH_WGMMA(__nv_bfloat16, "bf16", __VA_ARGS__) \
  SAWTOOTH_WGMMA(__half, "f16", __VA_ARGS__)

SAWTOOTH_WGMMA_TYPES(64, 32, 33, 34, 35, 36, 37)
SAWTOOTH_WGMMA_TYPES(80, 40, 41, 42, 43, 44, 45)
SAWTOOTH_WGMMA_TYPES(128, 64, 65, 66, 67, 68, 69)
SAWTOOTH_WGMMA_TYPES(176, 88, 89, 90, 91, 92, 93)
SAWTOOTH_WGMMA_TYPES(256, 128, 129, 130, 131, 132, 133)

}  // namespace sawtooth::kernels::hopper
