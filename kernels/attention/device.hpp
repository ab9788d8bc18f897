// What a kernel asks of a device, read once a device and process.
#pragma once

namespace sawtooth::kernels {

struct DeviceLimits {
  int compute_capability = 0;  // 10 x major + minor; 0: no device
  int shared_bytes = 0;        // that one CTA can have
  int sms = 0;
  int shared_bytes_per_sm = 0;
  int reserved_shared_bytes = 0;  // of each CTA, beside its own
  int number = 0;                 // the CUDA runtime's
};

/// The device is the thread's current one; zeros and `error` (a cudaError_t) say that it has none.
DeviceLimits current_device(int* error = nullptr);

}  // namespace sawtooth::kernels
