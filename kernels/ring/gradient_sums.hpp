// Sums of gradients that come in parts, in float: of dQ from the keys of one rank after another, of
// dK and dV from the rows of one rank after another.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

/// Adds `part`, [heads, rows.size(), dim], to those rows of `sums`, [heads, head_rows, dim].
struct GradientPart {
  const void* part = nullptr;
  float* sums = nullptr;
  void* total = nullptr;  // laid out as the sums; null: not now
  int64_t heads = 0;      // of all batches
  int64_t head_rows = 0;
  Range rows;
  int64_t head_dim = 0;
  ElementType dtype = ElementType::bf16;  // of the part and of the total
  bool begins = false;                    // what lies in the sums is overwritten, not added to
};

/// Enqueues it. Throws CudaError.
void add_gradient_part(const GradientPart& part, cudaStream_t stream);

}  // namespace sawtooth::kernels
