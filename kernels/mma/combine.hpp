// Joins the partial results of kv-split: every part's O is normalised by its own sum, its
// log-sum-exp is its weight (Flash-Decoding, Dao et al. 2023).
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels {

/// Enqueues O and lse from `partial_o` and `partial_lse` of `arguments`.
cudaError_t launch_combine(const ForwardArguments& arguments, cudaStream_t stream);

}  // namespace sawtooth::kernels
