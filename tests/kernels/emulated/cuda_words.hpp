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
#undef __noinline__
#define __noinline__
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

/// What lane `from` of the warp gave; all lanes.
template <class T>
T __shfl_sync(unsigned, T value, int from) {
  sawtooth::emulated::Cta& cta = sawtooth::emulated::cta;
  std::memcpy(cta.warp().mailbox[cta.lane()], &value, sizeof value);
  cta.wait_for_warp();
  T other;
  std::memcpy(&other, cta.warp().mailbox[from], sizeof other);
  cta.wait_for_warp();
  return other;
}
template <class T>
T __shfl_xor_sync(unsigned lanes, T value, int distance) {
  return __shfl_sync(lanes, value, sawtooth::emulated::cta.lane() ^ distance);
}
template <class T>
T __shfl_up_sync(unsigned lanes, T value, int distance) {
  const int lane = sawtooth::emulated::cta.lane();
  return __shfl_sync(lanes, value, lane < distance ? lane : lane - distance);
}
inline unsigned __ballot_sync(unsigned lanes, bool value) {
  unsigned all = 0;
  for (int lane = 0; lane < sawtooth::emulated::warp_threads; ++lane)
    all |= unsigned(__shfl_sync(lanes, int(value), lane)) << lane;
  return all;
}

inline int min(int a, int b) {
  return a < b ? a : b;
}
inline int max(int a, int b) {
  return a < b ? b : a;
}
inline unsigned __float_as_uint(float value) {
  return __builtin_bit_cast(unsigned, value);
}
inline float __uint_as_float(unsigned bits) {
  return __builtin_bit_cast(float, bits);
}
inline int __ffs(int value) {
  return __builtin_ffs(value);
}
inline int __popc(unsigned value) {
  return __builtin_popcount(value);
}
inline float __fdividef(float a, float b) {
  return a / b;
}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
template <class T>
void __stcg(T* to, T value) {
  *to = value;
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
