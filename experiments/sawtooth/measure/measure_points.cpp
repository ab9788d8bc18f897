#include "experiments/sawtooth/measure/measure_points.hpp"

#include <algorithm>
#include <set>

#include "cupti/metric_table.hpp"
#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// With the kernel that runs it.
CsvRow cells_with_kernel(const Point& point, const std::string& experiment) {
  CsvRow cells = measured_key_cells(point, experiment);
  if (!point.refusal.empty()) return cells;
  cells[result_column("kernel")] = variant_of(attention_call(point)).family;
  return cells;
}

}  // namespace

MeasurePlan measure_plan(const Command& command, const Arguments& arguments) {
  const SweepArguments given = parse_sweep_arguments(command, arguments);
  MeasurePlan plan{given.outputs, given.experiment, {}, false};
  Catalog catalog;
  std::set<std::string> seen;
  const Shard shard = shard_of(plan.outputs);
  const PointList list(given.configuration, given.command_line);
  for (size_t i = 0; i < list.size(); ++i) {
    MeasurePoint point{resolve_or_refuse(list[i], catalog), {}};
    try {  // refuses what no kernel runs, before anything is launched
      if (point.point.refusal.empty())
        point.point.refusal =
            no_room(point.point, variant_of(attention_call(point.point)).shared_bytes);
    } catch (const UsageError& error) {
      point.point.refusal = error.what();
    }
    point.key_cells = cells_with_kernel(point.point, plan.experiment);
    if (shard.count > 1 && !shard.has(run_id(point.key_cells))) continue;
    if (seen.insert(row_key(point.key_cells)).second) plan.points.push_back(std::move(point));
  }
  plan.is_part = shard.count > 1;
  const auto runs = [](const MeasurePoint& point) { return point.point.refusal.empty(); };
  if (!plan.is_part && std::none_of(plan.points.begin(), plan.points.end(), runs))
    throw Refusal(plan.points.front().point.refusal);
  return plan;
}

CsvRow refused_row(const MeasurePoint& point) {
  return row_without_result(repetition_cells(point, 0), status_refused, point.point.refusal);
}

Failures refusals_of(const MeasurePlan& plan) {
  Failures refused;
  for (const MeasurePoint& point : plan.points)
    if (!point.point.refusal.empty()) refused.add(refused_row(point));
  return refused;
}

CsvRow repetition_cells(const MeasurePoint& point, int64_t repetition) {
  CsvRow cells = point.key_cells;
  cells.push_back(std::to_string(repetition));
  return cells;
}

CsvRow measured_row(const MeasurePoint& point, int64_t repetition, const MeasuredCells& cells) {
  constexpr double flop_per_us_of_a_teraflop = 1e6;
  CsvRow row = point.key_cells;
  row.resize(result_columns.size());
  row[result_column("repetition")] = std::to_string(repetition);
  for (const auto& [name, value] : cells.counts)
    for (size_t column = first_counter_column; column < result_column("time_us"); ++column)
      if (result_columns[column].name == name) row[column] = std::to_string(value);
  if (cells.time_us > 0) {
    const sim::Request& request = point.point.request;
    const double flop = attention_flop(request.problem, request.tiling, request.sequences);
    row[result_column("time_us")] = fixed(cells.time_us, 2);
    row[result_column("tflops")] = fixed(flop / cells.time_us / flop_per_us_of_a_teraflop, 2);
  }
  if (cells.profiled_time_us > 0)
    row[result_column("profiled_time_us")] = fixed(cells.profiled_time_us, 2);
  if (cells.replay_passes > 0)
    row[result_column("replay_passes")] = std::to_string(cells.replay_passes);
  row[result_column("status")] = cells.status;
  row[result_column("message")] = cells.message;
  row[result_column("run_id")] = run_id(point.key_cells);
  return row;
}

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
