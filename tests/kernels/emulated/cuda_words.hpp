// CUDA's words of kernels for a C++ compiler, on the CTA of emulated/cta.hpp.
// Before every header of a kernel.
#pragma once

#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "tests/kernels/emulated/cta.hpp"

// Kernels choose instructions by it; of the headers above it would choose device code.
#define __CUDA_ARCH__ SAWTOOTH_EMULATED_ARCHITECTURE
#undef __shared__
#define __shared__
#undef __grid_constant__
#define __grid_constant__
#undef __launch_bounds__
#define __launch_bounds__(...)
#define threadIdx (uint3{unsigned(::sawtooth::emulated::cta.thread()), 0, 0})
#define blockIdx (uint3{::sawtooth::emulated::cta.number(), 0, 0})
#define gridDim (uint3{::sawtooth::emulated::cta.ctas(), 1, 1})

inline void __syncthreads() {
  sawtooth::emulated::cta.wait_for_all();
}
inline void __syncwarp() {
  sawtooth::emulated::cta.wait_for_warp();
}

inline void __threadfence() {}

template <class T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  sawtooth::emulated::Cta& cta = sawtooth::emulated::cta;
  std::memcpy(cta.warp().mailbox[cta.lane()], &value, sizeof value);
  cta.wait_for_warp();
  T other;
  std::memcpy(&other, cta.warp().mailbox[cta.lane() ^ distance], sizeof other);
  cta.wait_for_warp();
  return other;
}

inline bool __any_sync(unsigned, bool value) {
  const int mine = value;
  int any = mine;
  for (int distance = 1; distance < sawtooth::emulated::warp_threads; distance *= 2)
    any |= __shfl_xor_sync(~0u, any, distance);
  return any != 0;
}

template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at += value;
  return before;
}
