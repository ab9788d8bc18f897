// Reads a GPU profile: one section a parameter, with its value, its source and a note.
//
//   [gpu]
//   description = NVIDIA GB10 (DGX Spark)
//   [l2-bytes]
//   value = 24 MiB
//   source = published
//   note = where the number is from, why, and what it acts on
//
// A section [tpc-spread d64-128x128] has the value of one kernel of kernels/mma, where it is not
// that of the others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/tiling.hpp"
#include "sim/gpu_profile.hpp"

namespace sawtooth::experiments {

struct GpuParameter {
  std::string key;  // and, after a blank, the kernel that it is for
  std::string value;
  std::string source;  // datasheet, measured, published or assumed
  std::string note;
};

struct GpuFile {
  std::string description;
  sim::GpuProfile profile;
  std::vector<GpuParameter> parameters;
};

/// Throws UsageError with file, line and what is allowed.
GpuFile read_gpu_file(const std::string& path);

/// Puts the values that `gpu` has for this kernel of kernels/mma alone in the place of the others.
void set_kernel_parameters(const GpuFile& gpu, int64_t head_dim, const Tiling& tiling,
                           sim::GpuProfile& profile);

/// Keys that a profile may have, in the order of the struct; `sms` and `l2-bytes` are required.
std::vector<std::string_view> gpu_parameter_keys();

}  // namespace sawtooth::experiments
