// A trace at one capacity by the models that are no stack: sets with a replacement policy, and
// Belady's optimum.
#pragma once

#include <functional>
#include <memory>

#include "sim/prediction.hpp"
#include "sim/sets/parameters.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

/// Opens a trace at its beginning, for a reader that replaces the one before.
using OpenTrace = std::function<std::unique_ptr<TraceReader>()>;

/// As simulate_sets() of the schedule behind the trace, where it has one: the lines' addresses are
/// the trace's. Reads `reader` to its end and then the trace again, as the hash must know all lines
/// before the first visit. Throws TraceError for a broken trace, for atoms that overlap and for a
/// run of lines that is visited backwards, and std::invalid_argument as set_geometry() does.
Prediction replay_on_sets(TraceReader& reader, const OpenTrace& again, int64_t l2_bytes,
                          const SetsParameters& parameters);

/// As simulate_opt(), in one pass. Throws TraceError likewise.
Prediction replay_by_optimum(TraceReader& reader, int64_t l2_bytes);

}  // namespace sawtooth::sim
