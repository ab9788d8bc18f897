// A launch as CUPTI's callbacks show it: which calls launch, and what their parameters say.
// Source: cupti_driver_cbid.h, generated_cuda_meta.h.
#pragma once

#include <span>

#include <cuda.h>
#include <cupti_callbacks.h>

#include "cupti/inject/pass_file.hpp"

namespace sawtooth::inject {

struct ForeignLaunch {
  CUfunction function = nullptr;  // null for a graph; may be a CUkernel
  Extent grid{};
  Extent block{};
  unsigned dynamic_shared_bytes = 0;
  CUstream stream = nullptr;  // never null for the default stream of a thread
};

/// The driver calls that launch kernels and graphs. (Launches of the runtime pass through them.)
std::span<const CUpti_CallbackId> launch_calls();

ForeignLaunch foreign_launch(CUpti_CallbackId call, const void* parameters);

}  // namespace sawtooth::inject
