// The two small kernels around the backward pass. Before it: rowsum(dO * O), log-sum-exp in powers
// of two, and zeros for the sums of dQ (FlashAttention-2,
// csrc/flash_attn/src/flash_bwd_preprocess_kernel.h). Behind it: dQ from its sums.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/mma/backward/arguments.hpp"

namespace sawtooth::kernels {

cudaError_t launch_row_sums(const BackwardArguments& arguments, cudaStream_t stream);
cudaError_t launch_dq_conversion(const BackwardArguments& arguments, cudaStream_t stream);

}  // namespace sawtooth::kernels
