// One prediction: problem + tiling + schedule on an L2 -> counters, by tensor and in total.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/counters.hpp"
#include "sim/lru/distance_histogram.hpp"
#include "sim/request.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/timed/time_terms.hpp"

namespace sawtooth::sim {

/// With 95 % confidence a count lies in here.
struct Interval {
  int64_t low = 0;
  int64_t high = 0;
};

/// What a prediction from a sample of tiles (sim/lru/sampled_lru.hpp) rests on.
struct Sampling {
  int64_t tiles = 0;  // that were followed
  int64_t all_tiles = 0;
  Interval l2_read_miss_sectors;
  Interval l2_write_miss_sectors;
};

struct Prediction {
  Counters total;
  std::array<Counters, tensor_count> by_tensor;
  DistanceHistogram histogram;       // of all accesses: gives the counters at every capacity
  int64_t steps = 0;                 // lockstep steps
  int64_t tile_visits = 0;           // visits of single workers to single tiles
  std::optional<double> time_us;     // from launch to end, where the model of time knows it
  TimePhases phases;                 // where the workers' time goes (timed)
  std::string method;                // how the model counted, where it had a choice
  std::optional<Sampling> sampling;  // empty: the prediction is exact
};

/// The counters of one tensor in a fully associative LRU of `capacity_lines` lines.
Counters count_lru(const DistanceHistogram& histogram, Tensor tensor, int64_t capacity_lines);

/// Fills the counters of `prediction`, by tensor and in total, from its histogram.
void count_all(Prediction& prediction, int64_t capacity_lines);

/// Fully associative LRU of whole tiles over every tensor, exact (model name `lru`).
/// Throws std::invalid_argument when tiles share lines (AtomTable).
Prediction simulate_lru(const Request& request);

}  // namespace sawtooth::sim
