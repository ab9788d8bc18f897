#include "experiments/sawtooth/measure/launch_counters.hpp"

#include "cupti/metric_table.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

LaunchCounters::LaunchCounters(Pass pass) {
  try {
    profiler_.emplace();
    plan_ = profiler_->plan(cupti::metrics_for(profiler_->chip(), counters_of(pass)),
                            cupti::metrics_for(profiler_->chip(), cupti::witness_counters()),
                            cupti::BadMetrics::drop);
    for (const cupti::DroppedMetric& dropped : plan_.dropped) {
      dropped_ += dropped_.empty() ? "not counted: " : ", ";
      dropped_.append(dropped.metric).append(" (").append(cupti::status_name(dropped.status));
      dropped_ += ")";
    }
  } catch (const cupti::CounterError& error) {
    profiler_.reset();
    status_ = cupti::status_name(error.status());
    message_ = error.what();
  }
}

void LaunchCounters::fill(const cupti::RangeReading& range, int64_t replay_passes,
                          MeasuredCells& cells) const {
  cells.replay_passes = replay_passes;
  cells.message = dropped_;
  for (const cupti::L2CounterInfo& info : cupti::l2_counters()) {
    const cupti::MetricChoice choice = cupti::metric_for(profiler_->chip(), info.counter);
    if (!choice.available()) continue;
    const std::optional<int64_t> count = range.count(choice.metric);
    if (!count) continue;
    if (info.counter == cupti::L2Counter::duration_ns)
      cells.profiled_time_us = double(*count) / ns_a_us;
    else
      cells.counts.emplace_back(info.column, *count);
  }
}

}  // namespace sawtooth::experiments
