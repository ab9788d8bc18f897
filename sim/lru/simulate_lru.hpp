// A schedule in lockstep on a fully associative LRU (model name `lru`).
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// The counters of one tensor in a fully associative LRU of `capacity_lines` lines.
Counters count_lru(const DistanceHistogram& histogram, Tensor tensor, int64_t capacity_lines);

/// Fills the counters of `prediction`, by tensor and in total, from its histogram.
void count_all(Prediction& prediction, int64_t capacity_lines);

/// Fully associative LRU of whole tiles over every tensor, exact (model name `lru`).
/// Throws std::invalid_argument when tiles share lines (AtomTable).
Prediction simulate_lru(const Request& request);

}  // namespace sawtooth::sim
