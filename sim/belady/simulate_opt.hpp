// A schedule in lockstep on a cache that knows the future (model name `opt`): how many misses the
// best of all replacements would have, and so how much of LRU's misses is due to the order of work.
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// The counters of simulate_lru() for a fully associative cache of request.l2_bytes under Belady's
/// replacement; the histogram stays empty. Throws std::invalid_argument as BeladyLines and
/// AtomTable do.
Prediction simulate_opt(const Request& request);

}  // namespace sawtooth::sim
