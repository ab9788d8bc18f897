// The words of the scan `attach`: one a (batch, K/V head), in which a CTA leaves the number of each
// tile that it starts. They stay in L2. A step of kernels/mma writes its word
// (kernels/mma/work_item.cuh). kernels/hopper exchanges it atomically, and reads it so where an
// item begins: no write, but a sector that the SM receives (kernels/hopper/scan_warp.cuh).
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// Adds the sector that every step writes to the l2_write_sectors of `other` and of all tensors,
/// or with request.atomic_words those that SMs receive to their sm_read_sectors; nothing under
/// other scans, or with loop = kv-outer, which has no such words.
void add_attach_words(const Request& request, Prediction& prediction);

}  // namespace sawtooth::sim
