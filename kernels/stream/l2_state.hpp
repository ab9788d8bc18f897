// Puts L2 into a known state. No CUDA call flushes L2, so memory of four times its size is written
// and then read: the writes push everything out, the reads push the writes out, and clean lines of
// no interest stay. (A memset of one L2 would leave dirty lines whose write-back falls into the
// measurement.)
#pragma once

#include <cstdint>

#include "kernels/common/device_buffer.hpp"

namespace sawtooth::kernels {

enum class L2StateKind : uint8_t { cold, warm, as_is };

class L2State {
 public:
  /// Allocates four times the device's L2. Throws CudaError.
  L2State();

  /// Writes, reads, resets persisting lines and synchronises.
  void flush();

  /// Keeps the GPU busy for 30 us without touching memory and does not wait, so that what is
  /// enqueued meanwhile starts without the CPU's part of its launch.
  void hold();

  /// Before a pass: cold flushes; warm flushes and then runs `launch` once; as_is does nothing.
  template <class Launch>
  void prepare(L2StateKind kind, Launch&& launch) {
    if (kind == L2StateKind::as_is) return;
    flush();
    if (kind == L2StateKind::warm) launch();
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }

  int64_t l2_bytes() const { return l2_bytes_; }

 private:
  int64_t l2_bytes_ = 0;
  int sms_ = 0;
  DeviceBuffer buffer_;
  DeviceBuffer sink_;
};

}  // namespace sawtooth::kernels
