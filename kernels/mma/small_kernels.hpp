// Launches of the small kernels beside the main ones of both passes.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/mma/arguments.hpp"
#include "kernels/mma/backward/arguments.hpp"

namespace sawtooth::kernels {

// The small kernels around the backward pass. Before it: rowsum(dO * O), log-sum-exp in powers of
// two, and zeros for the sums of dQ (FlashAttention-2,
// csrc/flash_attn/src/flash_bwd_preprocess_kernel.h). Behind it: dQ from its sums, and with
// kv_split dK and dV from their parts.

cudaError_t launch_row_sums(const BackwardArguments& arguments, cudaStream_t stream);
cudaError_t launch_dq_conversion(const BackwardArguments& arguments, cudaStream_t stream);
cudaError_t launch_sums_of_parts(const BackwardArguments& arguments, cudaStream_t stream);

// Joins the partial results of kv-split: every part's O is normalised by its own sum, its
// log-sum-exp is its weight (Flash-Decoding, Dao et al. 2023).

/// Enqueues O and lse from `partial_o` and `partial_lse` of `arguments`.
cudaError_t launch_combine(const ForwardArguments& arguments, cudaStream_t stream);

}  // namespace sawtooth::kernels
