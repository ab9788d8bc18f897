// The points of a measuring command: a sweep resolved, duplicates left out, kernels checked.
#pragma once

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/common/cuda_check.hpp"
#include "kernels/stream/l2_state.hpp"
#include "scheduler/problem.hpp"

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

// The counters of rows of results.csv: a profiler of the current device with its plan, or the
// reason why there is none, which then stands in the rows.

class LaunchCounters {
 public:
  /// Counters are those of the current device; `pass` says whether reductions are read.
  explicit LaunchCounters(Pass pass);
  /// Why there are none; empty where there are.
  const std::string& message() const { return message_; }

  /// Calls read(profiler, plan), which may fill `cells`; where there are no counters, or that
  /// throws a CounterError, the cells say so.
  template <class Read>
  void read(Read read, MeasuredCells& cells) {
    if (!profiler_) {
      cells.status = status_;
      cells.message = message_;
      return;
    }
    try {
      read(*profiler_, plan_);
    } catch (const cupti::CounterError& error) {  // of this row alone; the sweep goes on
      cells.status = cupti::status_name(error.status());
      cells.message = error.what();
    }
  }

  /// Cells of one range.
  void fill(const cupti::RangeReading& range, int64_t replay_passes, MeasuredCells& cells) const;

 private:
  std::optional<cupti::RangeProfiler> profiler_;
  cupti::MetricPlan plan_;
  std::string status_, message_, dropped_;
};

inline kernels::L2StateKind l2_state(L2Content before) {
  using Kind = kernels::L2StateKind;
  if (before == L2Content::warm) return Kind::warm;
  return before == L2Content::as_is ? Kind::as_is : Kind::cold;
}

struct CountedLaunch {
  cupti::RangeReading range;
  int64_t replay_passes = 0;
};

/// One attention launch under counters, as the GPU runs it without them. Throws
/// cupti::CounterError, and what a launch throws.
///
/// The first launch after a pass begins is another one: CTAs come to SMs in another order. On an
/// H200 eight SMs get their second CTA 32 numbers after the first instead of 80, so that two long
/// items share an SM: a launch of two CTAs an SM took up to 18 % longer and read up to 13 % more
/// from DRAM than without counters. So what prepares L2 is launched in the pass, in a range of its
/// own that is not read. With state as-is nothing is, and the attention kernel comes first.
inline CountedLaunch count_launch(cupti::RangeProfiler& profiler, const cupti::MetricPlan& plan,
                                  AttentionOnDevice& attention, kernels::L2State& l2,
                                  kernels::L2StateKind state) {
  const auto launch = [&] { attention.launch(); };
  const cupti::Reading reading = profiler.measure(
      plan, [] {}, {{"prepare", [&] { l2.prepare(state, launch); }}, {"attention", launch}});
  return {reading.ranges.back(), reading.replay_passes};
}

// How commands end where a GPU or its counters are missing: one line, and exit code 3.

inline int report_no_device(const cupti::CounterError& error) {
  std::cerr << "sawtooth: " << error.what() << '\n';
  return exit_no_device;
}

/// To be called where `error` was caught: an error of a GPU that is there is thrown on.
inline int report_no_device(const kernels::CudaError& error) {
  if (!error.no_device()) throw;
  std::cerr << "sawtooth: " << cupti::status_help(cupti::Status::no_driver) << " (" << error.what()
            << ")\n";
  return exit_no_device;
}

}  // namespace sawtooth::experiments
