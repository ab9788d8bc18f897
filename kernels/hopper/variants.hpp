// The compiled variants of the Hopper kernel: one explicit table, one file a variant in variants/.
#pragma once

#include <span>
#include <string_view>

#include <cuda_runtime_api.h>

#include "kernels/attention/variants.hpp"
#include "kernels/mma/arguments.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels::hopper {

struct Variant {
  std::string_view name;
  ElementType dtype;
  int64_t head_dim;
  Tiling tiling;
  int stages;
  void (*launch)(const ForwardArguments& arguments, cudaStream_t stream);
  KernelVariant (*row)();  // in the table of all kernels
};

std::span<const Variant> variants();

}  // namespace sawtooth::kernels::hopper
