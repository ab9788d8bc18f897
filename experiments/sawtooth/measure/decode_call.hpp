// Points of decode: packed groups and equal shares, with lengths and pages, as kernels/decode run
// them.
#pragma once

#include "experiments/sawtooth/inputs/point.hpp"
#include "kernels/attention/decode.hpp"

namespace sawtooth::experiments {

/// Whether the point is for the decode kernels. All others are for those of one length.
bool is_decode(const Point& point);

/// The call without tensors and tables. Without `kernel` it is of the family mma, as the costs of
/// predictions are. Throws UsageError that names key and what is allowed when no kernel runs it.
kernels::AttentionDecode decode_call(const Point& point);

/// The kernel of a call that names its family.
const kernels::KernelVariant& decode_variant(const kernels::AttentionDecode& call);

}  // namespace sawtooth::experiments
