// That no two runs of lines of a trace share a line, which every model of it needs.
#pragma once

#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

/// Throws TraceError that names two runs which do. `reader` has been read to its end.
void require_disjoint(const TraceReader& reader);

}  // namespace sawtooth::sim
