// CUDA runtime errors as exceptions that say where, what and which expression.
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

/// Throws sawtooth::kernels::CudaError unless `expression` is cudaSuccess.
#define SAWTOOTH_CUDA_CHECK(expression) \
  ::sawtooth::kernels::check_cuda((expression), #expression, __FILE__, __LINE__)

namespace sawtooth::kernels {

/// what() is "<file>:<line>: <error name>: <error text> in <expression>".
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t error, const std::string& message)
      : std::runtime_error(message), error_(error) {}
  cudaError_t error() const { return error_; }

  /// No GPU, no driver or an incompatible one: what a command answers with exit code 3.
  bool no_device() const {
    return error_ == cudaErrorNoDevice || error_ == cudaErrorInsufficientDriver ||
           error_ == cudaErrorInitializationError || error_ == cudaErrorDevicesUnavailable ||
           error_ == cudaErrorStubLibrary || error_ == cudaErrorNoKernelImageForDevice;
  }

 private:
  cudaError_t error_;
};

inline void check_cuda(cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess) return;
  throw CudaError(error, std::string(file) + ":" + std::to_string(line) + ": " +
                             cudaGetErrorName(error) + ": " + cudaGetErrorString(error) + " in " +
                             expression);
}

/// Of the current device. Throws CudaError.
inline int device_attribute(cudaDeviceAttr what) {
  int device = 0, value = 0;
  SAWTOOTH_CUDA_CHECK(cudaGetDevice(&device));
  SAWTOOTH_CUDA_CHECK(cudaDeviceGetAttribute(&value, what, device));
  return value;
}

}  // namespace sawtooth::kernels
