// Events and streams that free themselves, and the time between two events. Host code only.
#pragma once

#include <utility>

#include <cuda_runtime_api.h>

#include "kernels/common/cuda_check.hpp"

namespace sawtooth::kernels {

/// A handle of the device that is current when it is made.
template <class Handle, cudaError_t (*create)(Handle*), cudaError_t (*destroy)(Handle)>
class OwnedHandle {
 public:
  OwnedHandle() { SAWTOOTH_CUDA_CHECK(create(&handle_)); }
  ~OwnedHandle() {
    if (handle_ != nullptr) destroy(handle_);
  }
  OwnedHandle(OwnedHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  OwnedHandle& operator=(OwnedHandle&&) = delete;
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

inline cudaError_t create_stream(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}
using Event = OwnedHandle<cudaEvent_t, cudaEventCreate, cudaEventDestroy>;
using Stream = OwnedHandle<cudaStream_t, create_stream, cudaStreamDestroy>;

/// From `begin` to `end`, which have both happened.
inline double ms_between(const Event& begin, const Event& end) {
  float ms = 0;
  SAWTOOTH_CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}

struct EventPair {
  /// From the beginning of what `launch` enqueues on the default stream to its end, for which it
  /// waits. Throws where CUDA fails.
  template <class Launch>
  double time_us(Launch&& launch) {
    constexpr double us_per_ms = 1000;
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(begin));
    launch();
    SAWTOOTH_CUDA_CHECK(cudaEventRecord(end));
    SAWTOOTH_CUDA_CHECK(cudaEventSynchronize(end));
    return us_per_ms * ms_between(begin, end);
  }

  Event begin, end;
};

}  // namespace sawtooth::kernels
