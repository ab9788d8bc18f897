// Device memory of the Hopper check, and what to do when CUDA fails: say it and leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK_CUDA(call)                                                                     \
  do {                                                                                       \
    const cudaError_t status_ = (call);                                                      \
    if (status_ != cudaSuccess) {                                                            \
      std::printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
      std::exit(3);                                                                          \
    }                                                                                        \
  } while (0)

namespace sawtooth::kernels::hopper {

template <class T>
struct DeviceArray {
  explicit DeviceArray(int64_t count) : size(count) {
    CHECK_CUDA(cudaMalloc(&data, size_t(std::max<int64_t>(count, 1)) * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  T* data = nullptr;
  int64_t size;
};

}  // namespace sawtooth::kernels::hopper
