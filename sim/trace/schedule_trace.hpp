// The trace of a schedule: what LockstepWavefront tells its sink, as visits with addresses. Tensors
// lie one behind the other in the order of AtomTable, head after head, each on a line boundary.
#pragma once

#include "sim/request.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

/// Replays `request` into `writer`, and finishes it. Workers that follow each other on one tile are
/// one visit. Throws std::invalid_argument as AtomTable does.
void write_schedule(const Request& request, TraceWriter& writer);

}  // namespace sawtooth::sim
