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

/// Which dimension of B is contiguous in shared memory: that of the contraction (rows_descriptor)
/// or the other (columns_descriptor). Values are those of the operand imm-trans-b.
enum class BOrder { rows = 0, columns = 1 };

/// The instruction with N columns, B by descriptor. `from_shared`: A by descriptor too, with the
/// contraction dimension contiguous. `from_registers`: A in four registers. With `accumulate` 0 the
/// product replaces D.
template <class Element, int N, BOrder Order>
struct Wgmma;

// The operand lists of the instructions, ten registers and up to 32 operands at a time.
#define SAWTOOTH_TEN(t)                                                                            \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t \
  "9, "
#define SAWTOOTH_FIRST_30 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " SAWTOOTH_TEN(1) SAWTOOTH_TEN(2)
#define SAWTOOTH_FIRST_60 SAWTOOTH_FIRST_30 SAWTOOTH_TEN(3) SAWTOOTH_TEN(4) SAWTOOTH_TEN(5)
#define SAWTOOTH_FIRST_80 SAWTOOTH_FIRST_60 SAWTOOTH_TEN(6) SAWTOOTH_TEN(7)
#define SAWTOOTH_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SAWTOOTH_D8(i) SAWTOOTH_D4(i), SAWTOOTH_D4(i + 4)
#define SAWTOOTH_D32(i) SAWTOOTH_D8(i), SAWTOOTH_D8(i + 8), SAWTOOTH_D8(i + 16), SAWTOOTH_D8(i + 24)

#define SAWTOOTH_REGISTERS_64 SAWTOOTH_FIRST_30 "%30, %31"
#define SAWTOOTH_ACCUMULATORS_64 SAWTOOTH_D32(0)
#define SAWTOOTH_REGISTERS_80 SAWTOOTH_FIRST_30 "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39"
#define SAWTOOTH_ACCUMULATORS_80 SAWTOOTH_D32(0), SAWTOOTH_D8(32)
#define SAWTOOTH_REGISTERS_96 \
  SAWTOOTH_FIRST_30 SAWTOOTH_TEN(3) "%40, %41, %42, %43, %44, %45, %46, %47"
#define SAWTOOTH_ACCUMULATORS_96 SAWTOOTH_D32(0), SAWTOOTH_D8(32), SAWTOOTH_D8(40)
#define SAWTOOTH_REGISTERS_112 \
  SAWTOOTH_FIRST_30 SAWTOOTH_TEN(3) SAWTOOTH_TEN(4) "%50, %51, %52, %53, %54, %55"
#define SAWTOOTH_ACCUMULATORS_112 SAWTOOTH_D32(0), SAWTOOTH_D8(32), SAWTOOTH_D8(40), SAWTOOTH_D8(48)
#define SAWTOOTH_REGISTERS_128 SAWTOOTH_FIRST_60 "%60, %61, %62, %63"
#define SAWTOOTH_ACCUMULATORS_128 SAWTOOTH_D32(0), SAWTOOTH_D32(32)
#define SAWTOOTH_REGISTERS_160 \
  SAWTOOTH_FIRST_60 SAWTOOTH_TEN(6) "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define SAWTOOTH_ACCUMULATORS_160 \
  SAWTOOTH_D32(0), SAWTOOTH_D32(32), SAWTOOTH_D8(64), SAWTOOTH_D8(72)
#define SAWTOOTH_REGISTERS_176 SAWTOOTH_FIRST_80 "%80, %81, %82, %83, %84, %85, %86, %87"
#define SAWTOOTH_ACCUMULATORS_176 \
  SAWTOOTH_D32(0), SAWTOOTH_D32(32), SAWTOOTH_D8(64), SAWTOOTH_D8(72), SAWTOOTH_D8(80)
#define SAWTOOTH_REGISTERS_192 SAWTOOTH_FIRST_80 SAWTOOTH_TEN(8) "%90, %91, %92, %93, %94, %95"
#define SAWTOOTH_ACCUMULATORS_192 SAWTOOTH_D32(0), SAWTOOTH_D32(32), SAWTOOTH_D32(64)
#define SAWTOOTH_REGISTERS_256                                       \
  SAWTOOTH_FIRST_80 SAWTOOTH_TEN(8) SAWTOOTH_TEN(9) SAWTOOTH_TEN(10) \
      SAWTOOTH_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127"
#define SAWTOOTH_ACCUMULATORS_256 \
  SAWTOOTH_D32(0), SAWTOOTH_D32(32), SAWTOOTH_D32(64), SAWTOOTH_D32(96)

// Operands after the accumulators have the numbers I0 to I6: `accumulate`, the order of B, B, and
// A. The text A names those of A; one in shared memory has an order too, ORDER_OF_A.
#define SAWTOOTH_ISSUE(TYPE, N, I0, I1, I2, A, ORDER_OF_A, ...)                               \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #I0                                       \
               ", 0;\n"                                                                       \
               "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                \
               " {" SAWTOOTH_REGISTERS_##N "}, " A ", %" #I2 ", p, 1, 1, " ORDER_OF_A "%" #I1 \
                                           ";\n}"                                             \
               : SAWTOOTH_ACCUMULATORS_##N                                                    \
               : "r"(accumulate), "n"(int(Order)), "l"(b), __VA_ARGS__)
#define SAWTOOTH_WGMMA(ELEMENT, TYPE, N, I0, I1, I2, I3, I4, I5, I6)                        \
  template <BOrder Order>                                                                   \
  struct Wgmma<ELEMENT, N, Order> {                                                         \
    __device__ static void from_shared(float (&d)[N / 2], uint64_t a, uint64_t b,           \
                                       int accumulate) {                                    \
      SAWTOOTH_ISSUE(TYPE, N, I0, I1, I2, "%" #I3, "0, ", "l"(a));                          \
    }                                                                                       \
    __device__ static void from_registers(float (&d)[N / 2], const uint32_t* a, uint64_t b, \
                                          int accumulate) {                                 \
      SAWTOOTH_ISSUE(TYPE, N, I0, I1, I2, "{%" #I3 ", %" #I4 ", %" #I5 ", %" #I6 "}", "",   \
                     "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));                           \
    }                                                                                       \
  };
#define SAWTOOTH_WGMMA_TYPES(...)                    \
  SAWTOOTH_WGMMA(__nv_bfloat16, "bf16", __VA_ARGS__) \
  SAWTOOTH_WGMMA(__half, "f16", __VA_ARGS__)

SAWTOOTH_WGMMA_TYPES(64, 32, 33, 34, 35, 36, 37, 38)
SAWTOOTH_WGMMA_TYPES(80, 40, 41, 42, 43, 44, 45, 46)
SAWTOOTH_WGMMA_TYPES(96, 48, 49, 50, 51, 52, 53, 54)
SAWTOOTH_WGMMA_TYPES(112, 56, 57, 58, 59, 60, 61, 62)
SAWTOOTH_WGMMA_TYPES(128, 64, 65, 66, 67, 68, 69, 70)
SAWTOOTH_WGMMA_TYPES(160, 80, 81, 82, 83, 84, 85, 86)
SAWTOOTH_WGMMA_TYPES(176, 88, 89, 90, 91, 92, 93, 94)
SAWTOOTH_WGMMA_TYPES(192, 96, 97, 98, 99, 100, 101, 102)
SAWTOOTH_WGMMA_TYPES(256, 128, 129, 130, 131, 132, 133, 134)

}  // namespace sawtooth::kernels::hopper
