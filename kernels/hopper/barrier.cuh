// Named barriers between warps, and registers that warpgroups hand to each other.
// PTX ISA: "bar / barrier", "setmaxnreg". The barriers of copies are kernels/tma/barrier.cuh.
#pragma once

#include "kernels/tma/barrier.cuh"

namespace sawtooth::kernels::hopper {

/// Named barriers 1 to 15 are free; 0 is __syncthreads.
__device__ inline void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Reads a word of shared memory; a pointer whose origin the compiler has lost takes longer.
__device__ inline int32_t read_shared(const int32_t* word) {
  int32_t value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(shared_address(word)) : "memory");
  return value;
}

/// The same of floats, by an address in the shared window.
__device__ inline float2 read_shared_floats(uint32_t address) {
  float2 values;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(values.x), "=f"(values.y)
               : "r"(address)
               : "memory");
  return values;
}
__device__ inline void write_shared_floats(uint32_t address, float a, float b, float c, float d) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(a), "f"(b), "f"(c),
               "f"(d)
               : "memory");
}

/// Gives registers back to the SM's pool, or takes them from it (whole warpgroup).
template <int Registers>
__device__ inline void shrink_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ inline void grow_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

}  // namespace sawtooth::kernels::hopper
