#include "kernels/attention/device.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include <cuda_runtime_api.h>

namespace sawtooth::kernels {
namespace {

constexpr int remembered_devices = 64;

cudaError_t read_limits(int device, DeviceLimits& limits) {
  int major = 0, minor = 0;
  for (const auto& [value, attribute] :
       {std::pair{&major, cudaDevAttrComputeCapabilityMajor},
        std::pair{&minor, cudaDevAttrComputeCapabilityMinor},
        std::pair{&limits.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin},
        std::pair{&limits.sms, cudaDevAttrMultiProcessorCount},
        std::pair{&limits.shared_bytes_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        std::pair{&limits.reserved_shared_bytes, cudaDevAttrReservedSharedMemoryPerBlock}})
    if (const cudaError_t error = cudaDeviceGetAttribute(value, attribute, device);
        error != cudaSuccess)
      return error;
  limits.compute_capability = 10 * major + minor;
  limits.number = device;
  return cudaSuccess;
}

}  // namespace

DeviceLimits current_device(int* error) {
  static std::array<DeviceLimits, remembered_devices> known;
  static std::array<std::atomic<bool>, remembered_devices> is_known;
  static std::mutex writing;
  int device = 0;
  DeviceLimits limits;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess && device < remembered_devices &&
      is_known[size_t(device)].load(std::memory_order_acquire))
    return known[size_t(device)];
  if (status == cudaSuccess) status = read_limits(device, limits);
  if (status != cudaSuccess) {
    if (error != nullptr) *error = status;
    return {};
  }
  if (device < remembered_devices) {
    const std::scoped_lock lock(writing);
    if (!is_known[size_t(device)]) known[size_t(device)] = limits;
    is_known[size_t(device)].store(true, std::memory_order_release);
  }
  return limits;
}

}  // namespace sawtooth::kernels
