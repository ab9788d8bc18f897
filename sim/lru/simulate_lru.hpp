// A schedule in lockstep on a fully associative LRU (model name `lru`).
#pragma once

#include <cstdint>

#include "sim/lru/distance_histogram.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

/// The counters of one tensor in a fully associative LRU of `capacity_lines` lines.
Counters count_lru(const DistanceHistogram& histogram, Tensor tensor, int64_t capacity_lines);

/// Fills the counters of `prediction`, by tensor and in total, from its histogram.
void count_all(Prediction& prediction, int64_t capacity_lines);

/// Fully associative LRU of whole tiles over every tensor, exact (model name `lru`).
/// Throws std::invalid_argument when tiles share lines (HeadAtoms).
Prediction simulate_lru(const Request& request);

// Schedules that repeat are multiplied, not replayed (docs/models/exactness.md, C).
//
// Without a mask all items have the same number of steps, so lockstep falls into rounds: every
// worker takes one item, and all end together. What a round adds to the histogram depends on what
// the round before it touched and on nothing older, when it scans no other K/V heads than that one.
// So where rounds repeat, with a period of one (linear) or two (sawtooth), one period is replayed
// and its counts are multiplied. Q and O tiles never come back: for them only weights must agree.

/// Whether `request` falls into rounds: forward, kv-inner without mask, kv-split, prefetch or order
/// file, with a scan that runs forwards or backwards.
bool has_rounds(const Request& request);

struct RoundReplay {
  int64_t steps = 0;
  int64_t tile_visits = 0;
  int64_t rounds = 0;
  int64_t rounds_multiplied = 0;  // of these, not replayed
};

/// Adds the distances of the whole schedule to `histogram`, the same as a plain replay would.
/// `request` must have rounds.
RoundReplay replay_rounds(const Request& request, LiveAtoms& atoms, DistanceHistogram& histogram);

}  // namespace sawtooth::sim
