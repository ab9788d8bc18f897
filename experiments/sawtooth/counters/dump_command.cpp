// sawtooth counters dump: any metrics around the kernels of a configuration.
#include <optional>

#include "cupti/metric_host.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/counters/counter_dump.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/stream/l2_state.hpp"

namespace sawtooth::experiments {
namespace {

MetricUnits units_of(const std::string& chip, const std::vector<std::string>& metrics) {
  MetricUnits units;
  for (const std::string& metric : metrics) {
    const std::string base = metric.substr(0, metric.find('.'));
    for (const cupti::MetricInfo& info : cupti::list_metrics(chip, base))
      if (info.name == base) units[metric] = info.unit;
  }
  return units;
}

void write_rows(std::ostream& output, const std::vector<CsvRow>& rows) {
  for (const CsvRow& row : rows) output << csv_line(row);
}

void dump_point(const MeasurePoint& point, int64_t repetitions, cupti::RangeProfiler& profiler,
                const cupti::MetricPlan& plan, const MetricUnits& units, kernels::L2State& l2,
                std::ostream& output) {
  const kernels::L2StateKind state = l2_state(point.point.keys.state);
  AttentionOnDevice attention(point.point);
  attention.launch();  // loads the kernel, so that no pass pays for it
  for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
    const CountedLaunch counted = count_launch(profiler, plan, attention, l2, state);
    write_rows(output, dump_rows(point.key_cells, repetition, counted.range, units));
  }
}

}  // namespace

int run_counters_dump(const Command& command, const Arguments& arguments) {
  const MeasurePlan points = measure_plan(command, arguments);
  for (const MeasurePoint& point : points.points)
    if (!point.point.refusal.empty()) throw Refusal(point.point.refusal);
  const std::vector<std::string> metrics = metric_list(value_or(points.outputs, "metrics", ""));
  const int64_t repetitions = std::stoll(value_or(points.outputs, "repetitions", "3"));
  const std::string path = value_or(points.outputs, "csv", "-");
  std::optional<OutputFile> file;
  try {
    cupti::RangeProfiler profiler;
    const cupti::MetricPlan plan = profiler.plan(metrics);
    const MetricUnits units = units_of(profiler.chip(), metrics);
    kernels::L2State l2;
    std::ostream& output = opened(path, file) << dump_header();
    for (const MeasurePoint& point : points.points)
      dump_point(point, repetitions, profiler, plan, units, l2, output);
    if (file) file->commit();
    return exit_fine;
  } catch (const cupti::CounterError& error) {
    if (error.status() == cupti::Status::unknown_metric ||
        error.status() == cupti::Status::metric_not_schedulable)
      throw UsageError(error.what());
    file.reset();  // rows that it has already are given up
    std::ostream& output = opened(path, file) << dump_header();
    for (const MeasurePoint& point : points.points)
      write_rows(output,
                 missing_rows(point.key_cells, metrics, cupti::status_name(error.status())));
    if (file) file->commit();
    return report_no_device(error);
  } catch (const kernels::CudaError& error) {
    return report_no_device(error);
  }
}

}  // namespace sawtooth::experiments
