// Launches that answer for themselves: an error that the thread's earlier calls left is not theirs.
#pragma once

#include <cstddef>
#include <type_traits>

#include <cuda_runtime.h>

#include "kernels/common/cuda_check.hpp"

namespace sawtooth::kernels {

struct LaunchShape {
  dim3 grid;
  dim3 threads;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

/// Enqueues `kernel`; throws CudaError when this launch fails.
template <class... Parameters>
void launch_kernel(const LaunchShape& shape, void (*kernel)(Parameters...),
                   std::type_identity_t<Parameters>... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  SAWTOOTH_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace sawtooth::kernels
