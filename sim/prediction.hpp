// What a model predicts of a request: counters, by tensor and in total, and what it knows beyond.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/counters.hpp"
#include "sim/lru/distance_histogram.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// Raised by every change after which some prediction differs: rows of another version are not
/// those of a sweep that goes on.
inline constexpr int model_version = 14;

// Where the workers' time goes, term by term: what bounds a kernel is what most of it goes to.

enum class TimeTerm : uint8_t {
  tensor,
  exp,
  exposed,
  sharing,
  l2,
  dram,
  latency,
  item,
  idle,
  turn,  // of dq = ordered: until the items before have added to its Q tile
};
inline constexpr int time_term_count = 10;

/// Nanoseconds by term, summed over workers.
struct TimeTerms {
  std::array<double, time_term_count> ns{};

  double& operator[](TimeTerm term) { return ns[static_cast<size_t>(term)]; }
  double operator[](TimeTerm term) const { return ns[static_cast<size_t>(term)]; }
};

/// Phase p is everybody's p-th item; idle time at the end is a phase of its own, the last.
using TimePhases = std::vector<TimeTerms>;

/// One of the launches that a prediction is the median of.
struct SimulatedLaunch {
  Counters total;
  double time_us = 0;
};

struct Prediction {
  Counters total;
  std::array<Counters, tensor_count> by_tensor;
  std::vector<Counters> by_part;          // of an L2 with private parts; empty: it has none
  DistanceHistogram histogram;            // of all accesses: gives the counters at every capacity
  std::optional<WriteBacks> write_backs;  // beside it, where lines get dirty that come back
  int64_t steps = 0;                      // lockstep steps
  int64_t tile_visits = 0;                // visits of single workers to single tiles
  std::optional<double> time_us;          // from launch to end, where the model of time knows it
  std::optional<double> transfer_us;      // of a ring (sim/ring/)
  std::optional<double> exposed_us;
  std::optional<double> of_ideal;         // time on one GPU / (GPUs x time)
  TimePhases phases;                      // where the workers' time goes (timed)
  std::vector<SimulatedLaunch> launches;  // all that were simulated (timed)
  std::string method;                     // how the model counted, where it had a choice
};

/// Fills the counters by tensor, and their sum, with counters_of(Tensor); `in_bulk` as in
/// count_in_bulk(). `prediction` is a Prediction, or has its counters.
template <class Predicted, class CountersOf>
void set_counters(Predicted& prediction, CountersOf counters_of, bool in_bulk = false) {
  int64_t fabric_misses = 0;
  for (int t = 0; t < tensor_count; ++t) {
    Counters counters = counters_of(static_cast<Tensor>(t));
    if (in_bulk) count_in_bulk(counters, fabric_misses);
    prediction.by_tensor[static_cast<size_t>(t)] = counters;
    add(prediction.total, counters);
  }
}

/// A backward pass may have no reduction (dq = separate), but does not leave them open.
inline void know_reductions(Prediction& prediction) {
  for (Counters& counters : prediction.by_tensor)
    counters.l2_reduction_sectors = counters.l2_reduction_sectors.value_or(0);
  prediction.total.l2_reduction_sectors = prediction.total.l2_reduction_sectors.value_or(0);
}

}  // namespace sawtooth::sim
