#include "experiments/studies/ladder/counters.hpp"

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"

namespace sawtooth::experiments::ladder {

std::vector<std::size_t> available_counters(const std::string& chip) {
  std::vector<std::size_t> available;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    try {
      cupti::passes_of(chip, {std::string(counters[i].metric)});
      available.push_back(i);
    } catch (const cupti::CounterError& error) {
      const bool missing = error.status() == cupti::Status::unknown_metric ||
                           error.status() == cupti::Status::metric_not_schedulable;
      if (!missing) throw;
    }
  }
  return available;
}

cupti::MetricPlan counter_plan(const cupti::RangeProfiler& profiler) {
  std::vector<std::string> metrics;
  for (const std::size_t i : available_counters(profiler.chip()))
    metrics.emplace_back(counters[i].metric);
  return profiler.plan(metrics);
}

Values read_counters(cupti::RangeProfiler& profiler, const cupti::MetricPlan& plan,
                     const std::function<void()>& launch) {
  const cupti::Reading reading = profiler.measure(plan, [] {}, {{"launch", launch}});
  Values values;
  for (std::size_t i = 0; i < counters.size(); ++i)
    for (const cupti::MetricValue& value : reading.ranges.front().values)
      if (value.metric == counters[i].metric) values[i] = value.value;
  return values;
}

}  // namespace sawtooth::experiments::ladder
