// Device memory that frees itself. Plain cudaMalloc: managed memory would migrate under the
// counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/common/cuda_check.hpp"

namespace sawtooth::kernels {

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws CudaError when the device has not enough memory. Contents are undefined.
  explicit DeviceBuffer(int64_t bytes) : bytes_(bytes) {
    SAWTOOTH_CUDA_CHECK(cudaMalloc(&data_, static_cast<size_t>(bytes)));
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  template <class T = void>
  T* as() const {
    return static_cast<T*>(data_);
  }
  int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

// These wait for the device, and throw CudaError.

inline DeviceBuffer zeroed(int64_t bytes) {
  DeviceBuffer buffer(bytes);
  SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as(), 0, static_cast<size_t>(bytes)));
  return buffer;
}

template <class Value>
DeviceBuffer to_device(const std::vector<Value>& values) {
  const size_t bytes = values.size() * sizeof(Value);
  DeviceBuffer buffer(static_cast<int64_t>(bytes));
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(buffer.as(), values.data(), bytes, cudaMemcpyHostToDevice));
  return buffer;
}

/// `count` values that lie at `from` in device memory.
template <class Value>
std::vector<Value> to_host(const void* from, int64_t count) {
  std::vector<Value> values(static_cast<size_t>(count));
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(values.data(), from, values.size() * sizeof(Value), cudaMemcpyDefault));
  return values;
}

}  // namespace sawtooth::kernels
