// Device side of sm_ranks.hpp.
#pragma once

#include "kernels/mma/ptx.cuh"
#include "kernels/stream/sm_ranks.hpp"

namespace sawtooth::kernels {

/// The calling CTA's SM rank. Called by one thread of a CTA, once a launch.
__device__ inline int32_t claim_sm_rank(const SmRankView& view, uint32_t launch) {
  const int32_t rank = view.rank_of_smid[sm_number()];
  if (rank < 0 || atomicExch(&view.claims[rank], launch) == launch) atomicAdd(view.doubled, 1u);
  return rank;
}

}  // namespace sawtooth::kernels
