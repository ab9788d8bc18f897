// Q, K, V and O of one problem in device memory, filled with random values.
#pragma once

#include "kernels/device_buffer.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

struct AttentionTensors {
  /// Contiguous [batch, head, length, dim]; inputs of a fixed seed, O as the allocator left it.
  /// Throws CudaError without a device or without memory.
  explicit AttentionTensors(const Problem& problem);

  kernels::DeviceBuffer q, k, v, o;
};

}  // namespace sawtooth::experiments
