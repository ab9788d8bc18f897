// The wavefront of a point: which worker stands at which tile at each step, as a table for the
// heat map and as a Chrome trace (Trace Event Format, "complete" events) that Perfetto opens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/support/csv.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

struct WavefrontStep {
  int64_t step = 0;
  int64_t worker = 0;
  int64_t item = 0;
  int64_t batch = 0;
  int64_t head = 0;
  int64_t q_tile = 0;
  int64_t kv_tile = 0;
};

/// The first `steps` steps of the lockstep replay, in time order, workers ascending in a step.
std::vector<WavefrontStep> wavefront_steps(const sim::Request& request, int64_t steps);

std::string wavefront_header();
std::string wavefront_rows(const CsvRow& key_cells, const std::vector<WavefrontStep>& wavefront);

/// One process a point, one row a worker, one slice a step of 1 us; where that would be more than
/// 200,000 slices, one slice an item.
/// `points` has the key cells and the wavefront of each point.
struct TimelinePoint {
  CsvRow key_cells;
  std::vector<WavefrontStep> wavefront;
};
std::string timeline_json(const std::vector<TimelinePoint>& points);

}  // namespace sawtooth::experiments
