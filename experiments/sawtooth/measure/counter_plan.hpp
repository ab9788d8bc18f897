// Which metrics a measurement reads on a chip and in which replay pass, known without a GPU: what
// `measure --dry-run` and `counters list` print.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "cupti/metric_table.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

struct PlannedCounter {
  std::string column;
  std::string metric;  // empty: the chip has none, see `reason`
  std::string reason;
  std::vector<int> passes;  // replay passes from 1 that collect it; empty when not planned
};

struct CounterPlan {
  std::string chip;
  std::vector<PlannedCounter> counters;
  int64_t passes = 0;
  std::string problem;  // why passes could not be planned (CUPTI missing); empty when they are
};

/// Plans `counters` with the witnesses of every pass. Without CUPTI's libraries the metric names
/// still stand there, and `problem` says why there are no passes.
/// Throws CounterError (no_metric_table) for a chip without a table.
CounterPlan plan_counters(std::string_view chip, std::span<const cupti::L2Counter> counters);

/// The plan of a row of results.csv, with reductions of a backward pass.
CounterPlan plan_results(std::string_view chip, Pass pass = Pass::forward);
/// What such a row needs.
std::span<const cupti::L2Counter> counters_of(Pass pass);

void print_counter_plan(std::ostream& out, const CounterPlan& plan);

/// What `measure --dry-run` says of a point: its kernel and how many items that gets.
void print_planned_point(std::ostream& out, const Point& point, std::string_view family,
                         const Tiling& tiling, int64_t shared_bytes);
/// Why the GPU of the point has no room for its kernel; else empty.
std::string no_room(const Point& point, int64_t shared_bytes);
/// The counters of a row on every chip of the tables.
void print_counter_plans(std::ostream& out, Pass pass);

}  // namespace sawtooth::experiments
