// Conversions of elements in kernels without tensor cores.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace sawtooth::kernels {

template <class Element>
__device__ Element rounded(float value);
template <>
__device__ inline __nv_bfloat16 rounded<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ inline __half rounded<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ inline float rounded<float>(float value) {
  return value;
}

__device__ inline float widened(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ inline float widened(__half value) {
  return __half2float(value);
}
__device__ inline float widened(float value) {
  return value;
}

}  // namespace sawtooth::kernels
