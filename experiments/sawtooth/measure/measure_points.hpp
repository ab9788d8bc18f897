// The points of a measuring command: a sweep resolved, duplicates left out, kernels checked.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct MeasurePoint {
  Point point;  // with a refusal also where no kernel runs it
  CsvRow key_cells;
};

struct MeasurePlan {
  Settings outputs;
  std::string experiment;
  std::vector<MeasurePoint> points;
  bool is_part;  // a shard, which may have no point, or none that can be run
};

/// Reads [CONFIG] and options; throws Refusal where no point of a whole sweep can be run.
MeasurePlan measure_plan(const Command& command, const Arguments& arguments);

/// The row of one repetition: key cells, counters (by column name, empty cells for the rest), time.
struct MeasuredCells {
  std::vector<std::pair<std::string, int64_t>> counts;
  double time_us = 0;
  double profiled_time_us = 0;  // 0: not profiled
  int64_t replay_passes = 0;
  std::string status = "ok";
  std::string message = {};  // why the status is not ok
};
CsvRow measured_row(const MeasurePoint& point, int64_t repetition, const MeasuredCells& cells);

/// The row of a point that no kernel runs, and all of a plan.
CsvRow refused_row(const MeasurePoint& point);
Failures refusals_of(const MeasurePlan& plan);

/// The key cells of one repetition.
CsvRow repetition_cells(const MeasurePoint& point, int64_t repetition);

}  // namespace sawtooth::experiments
