// From a trace to the prediction that `simulate` makes of a schedule: the histogram of LRU stack
// distances, and counters at one capacity.
#pragma once

#include <functional>
#include <memory>

#include "sim/prediction.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

/// Opens a trace from its beginning; it is read twice, because sizes are needed before distances.
using OpenTrace = std::function<std::unique_ptr<TraceReader>()>;

/// A fully associative LRU of `l2_bytes`, exact for visits in both directions
/// (docs/models/exactness.md, A and D). Throws TraceError for a broken trace and for atoms that
/// overlap.
Prediction analyse_trace(const OpenTrace& open, int64_t l2_bytes, const TraceLimits& limits);

/// Writes every visit of `reader` to `writer`, and finishes it.
void copy_trace(TraceReader& reader, TraceWriter& writer);

}  // namespace sawtooth::sim
