// The words of the scan `attach`: one a (batch, K/V head), in which a CTA leaves the number of each
// tile that it starts (kernels/mma/work_item.cuh). They stay in L2; what they add is writes.
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// Adds the sector that every step writes to the l2_write_sectors of `other` and of all tensors;
/// nothing under other scans, or with loop = kv-outer, which has no such words.
void add_attach_words(const Request& request, Prediction& prediction);

}  // namespace sawtooth::sim
