// What the values of a GPU's profile ask of each other.
#pragma once

#include <string>

#include "sim/gpu.hpp"

namespace sawtooth::experiments {

/// Throws UsageError that begins with `path` and names the key and what is allowed.
void check_gpu(const sim::Gpu& gpu, const std::string& path);

}  // namespace sawtooth::experiments
