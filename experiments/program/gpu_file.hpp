// Reads a GPU profile: one section a parameter, with its value, its source and a note.
//
//   [gpu]
//   description = NVIDIA GB10 (DGX Spark)
//   [l2-bytes]
//   value = 24 MiB
//   source = published
//   note = where the number is from, why, and what it acts on
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/gpu_profile.hpp"

namespace sawtooth::experiments {

struct GpuParameter {
  std::string key;
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

/// Keys that a profile may have, in the order of the struct; `sms` and `l2-bytes` are required.
std::vector<std::string_view> gpu_parameter_keys();

}  // namespace sawtooth::experiments
