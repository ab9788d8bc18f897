// What models ask of a trace: that no two runs of lines share a line, and, but for the exact LRU,
// that runs are visited forwards.
#pragma once

#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

/// Throws TraceError that names two runs which do. `reader` has been read to its end.
void require_disjoint(const TraceReader& reader);

/// Throws TraceError where `visit` goes backwards over several lines.
void require_forwards(const TraceVisit& visit, const TraceAtoms& atoms);

}  // namespace sawtooth::sim
