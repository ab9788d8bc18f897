// The counters of rows of results.csv: a profiler of the current device with its plan, or the
// reason why there is none, which then stands in the rows.
#pragma once

#include <optional>
#include <string>

#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

class LaunchCounters {
 public:
  /// Of the current device; `pass` says whether reductions are read.
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

}  // namespace sawtooth::experiments
