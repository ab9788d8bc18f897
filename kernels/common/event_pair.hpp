// The time between two events of the default stream. Host code only.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/common/cuda_check.hpp"

namespace sawtooth::kernels {

/// Events of the device that is current when it is made.
class EventPair {
 public:
  EventPair() {
    SAWTOOTH_CUDA_CHECK(cudaEventCreate(&begin_));
    SAWTOOTH_CUDA_CHECK(cudaEventCreate(&end_));
  }
  ~EventPair() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;

  /// From the beginning of what `launch` enqueues to its end, for which it waits. Throws where CUDA
  /// fails.
  template <class Launch>
  double time_us(Launch&& launch) {
    constexpr double us_per_ms = 1000;
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(begin_));
    launch();
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(end_));
    SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(end_));
    float milliseconds = 0;
    SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return us_per_ms * double(milliseconds);
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace sawtooth::kernels
