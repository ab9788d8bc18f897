// A schedule in lockstep on a hashed set-associative L2 (model name `sets`).
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// Reads and writes with the counters of simulate_lru(), by tensor and in total; a write allocates
/// without a fill. The histogram stays empty: sets have no curve over capacities. `method` says
/// whether tiles stood for their lines. Takes request.sets, and request.l2_bytes as the capacity.
/// Throws std::invalid_argument for a bad geometry (set_geometry) or tiles that share lines.
Prediction simulate_sets(const Request& request);

}  // namespace sawtooth::sim
