// One prediction: problem + tiling + schedule on an L2 -> counters, by tensor and in total.
#pragma once

#include <array>
#include <cstdint>

#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "sim/atoms.hpp"
#include "sim/counters.hpp"
#include "sim/distance_histogram.hpp"

namespace sawtooth::sim {

/// lockstep: workers that hold an item advance one K/V tile a step and go on at once.
/// lockstep_wave: nobody starts the next item before all items in flight have ended.
enum class Timing : uint8_t { lockstep, lockstep_wave };

struct Request {
  Problem problem;
  Tiling tiling;
  Schedule schedule;
  Timing timing = Timing::lockstep;
  int64_t l2_bytes = 0;
  bool log_sum_exp = false;  // also write the log-sum-exp of every row
};

struct Prediction {
  Counters total;
  std::array<Counters, tensor_count> by_tensor;
  DistanceHistogram histogram;  // of all accesses: gives the counters at every capacity
  int64_t steps = 0;            // lockstep steps
  int64_t tile_visits = 0;      // visits of single workers to single tiles
};

/// Fully associative LRU of whole tiles over every tensor, exact (model name `lru`).
Prediction simulate_lru(const Request& request);

}  // namespace sawtooth::sim
