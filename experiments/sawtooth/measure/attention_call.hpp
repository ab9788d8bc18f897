// The launch of one point without its tensors: the kernel variant, its problem and its schedule.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/attention/backward.hpp"
#include "kernels/attention/decode.hpp"

namespace sawtooth::experiments {

using AttentionCall =
    std::variant<kernels::AttentionForward, kernels::AttentionBackward, kernels::AttentionDecode>;

/// Where the sequences of a point begin in packed tensors, for a call to point to; empty where it
/// has one length.
struct PackedRowsOfPoint {
  std::vector<int32_t> q, kv;
};

/// The launch of a point without its tensors, of its pass. Throws UsageError that names key and
/// what is allowed when no kernel runs it (head dim, dtype, tiling, loop). Of sequences of
/// different lengths without packed heads it lacks the rows.
AttentionCall attention_call(const Point& point);

/// The kernel that runs it.
const kernels::KernelVariant& variant_of(const AttentionCall& call);

/// Where the sequences of a point begin, and the same rows as a call has them.
PackedRowsOfPoint packed_rows(const Point& point);
kernels::PackedRows packed_of(const PackedRowsOfPoint& rows, const Point& point);

}  // namespace sawtooth::experiments
