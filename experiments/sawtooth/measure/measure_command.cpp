// sawtooth measure: runs the kernels of every point, reads counters, and times launches without
// the profiler. With --dry-run: what would run, with which metrics and passes, without a GPU.
#include <iostream>
#include <limits>
#include <optional>
#include <utility>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/measure/measure_points.hpp"
#include "experiments/sawtooth/measure/measured_wavefront.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/stream/l2_state.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int timed_launches = 5;  // a repetition's time is their median

void read_counters(LaunchCounters& counters, AttentionOnDevice& attention, kernels::L2State& l2,
                   kernels::L2StateKind state, MeasuredCells& cells) {
  counters.read(
      [&](cupti::RangeProfiler& profiler, const cupti::MetricPlan& plan) {
        const CountedLaunch counted = count_launch(profiler, plan, attention, l2, state);
        counters.fill(counted.range, counted.replay_passes, cells);
      },
      cells);
}

double median_time_us(AttentionOnDevice& attention, kernels::L2State& l2,
                      kernels::L2StateKind state) {
  std::vector<double> times;
  for (int i = 0; i < timed_launches; ++i) {
    l2.prepare(state, [&] { attention.launch(); });
    times.push_back(attention.time_us(1, false, [&] { l2.hold(); }));
  }
  return median_of(times);
}

/// Backward where any point is: then additions are counted of all.
Pass pass_of(const MeasurePlan& plan) {
  for (const MeasurePoint& point : plan.points)
    if (point.point.request.problem.pass == Pass::backward) return Pass::backward;
  return Pass::forward;
}

/// Kernels, metrics and passes of every point on every chip of the tables.
int dry_run(const MeasurePlan& plan) {
  for (const MeasurePoint& point : plan.points) {
    if (!point.point.refusal.empty()) continue;
    const kernels::KernelVariant& variant = variant_of(attention_call(point.point));
    print_planned_point(std::cout, point.point, variant.family, variant.tiling,
                        variant.shared_bytes);
  }
  print_counter_plans(std::cout, pass_of(plan));
  const Failures refused = refusals_of(plan);
  refused.print();
  return refused.empty() ? exit_fine : exit_check_failed;
}

/// The order traces of all points, as the tables that were asked for.
class OrderTables {
 public:
  explicit OrderTables(const Settings& outputs) : steps_(steps_asked_for(outputs)) {
    const std::string trace = value_or(outputs, "order-trace", "");
    if (!trace.empty()) trace_.emplace(trace).write(order_trace_header());
    const std::string wavefront = value_or(outputs, "wavefront", "");
    if (!wavefront.empty()) wavefront_.emplace(wavefront).write(wavefront_header());
  }

  bool wanted() const { return trace_.has_value() || wavefront_.has_value(); }

  /// Returns a note where the wavefront is cut.
  std::string record(const MeasurePoint& point, AttentionOnDevice& attention) {
    const std::vector<RecordedStep> recorded = attention.record_order();
    if (trace_) trace_->write(order_trace_rows(point.key_cells, recorded));
    if (!wavefront_) return "";
    const Schedule& schedule = point.point.request.schedule;
    const int64_t steps = steps_.value_or(steps_of_waves(recorded, schedule.workers, usual_waves));
    const bool grid = schedule.launch == launch_id<GridLaunch>;
    wavefront_->write(wavefront_rows(point.key_cells, sampled_wavefront(recorded, steps, grid)));
    const bool is_cut = steps < steps_of_waves(recorded, 1, std::numeric_limits<int64_t>::max());
    return is_cut ? cut_note(point.key_cells, steps_) : "";
  }
  void finish() {
    if (trace_) trace_->commit();
    if (wavefront_) wavefront_->commit();
  }

 private:
  std::optional<int64_t> steps_;
  std::optional<OutputFile> trace_, wavefront_;
};

/// When each item began, a launch a repetition.
class ItemTrace {
 public:
  explicit ItemTrace(const Settings& outputs) : path_(value_or(outputs, "item-trace", "")) {
    if (wanted()) file_.emplace(path_).write(item_trace_header());
  }
  bool wanted() const { return !path_.empty(); }

  /// As a counted launch goes: behind what prepares L2.
  void record(const MeasurePoint& point, int64_t repetition, AttentionOnDevice& attention,
              kernels::L2State& l2, kernels::L2StateKind state) {
    l2.prepare(state, [&] { attention.launch(); });
    file_->write(item_trace_rows(point.key_cells, repetition, attention.record_items()));
  }
  void finish() {
    if (wanted()) file_->commit();
  }

 private:
  std::string path_;
  std::optional<OutputFile> file_;
};

/// What is opened once: without a device this throws, before anything is written.
struct Device {
  explicit Device(Pass pass) : counters(pass) {}
  kernels::L2State l2;
  LaunchCounters counters;
};

/// Measures the repetitions that `log` has not yet, and takes the others over; `device` may be
/// null when there is nothing to measure. Each repetition has its tensors on pages of its own, so
/// that the spread of a point is that of launches, not of one launch seen five times. `rows` counts
/// those that the log has got. Returns a note where the wavefront is cut.
std::string measure_point(const MeasurePoint& point, int64_t repetitions, Device* device,
                          ItemTrace& items, OrderTables& orders, ResultLog& log, int64_t& rows) {
  std::optional<AttentionOnDevice> attention;
  const auto place = [&](int64_t repetition) {
    attention.reset();  // its memory first
    attention.emplace(point.point, tensors_of(point.point, static_cast<uint64_t>(repetition)));
    attention->launch();  // loads the kernel, so that no later launch pays for it
  };
  const kernels::L2StateKind state = l2_state(point.point.keys.state);
  for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
    const CsvRow cells_of_key = repetition_cells(point, repetition);
    const bool known = log.has(cells_of_key);
    if (known) {
      log.keep(cells_of_key);
      ++rows;
    }
    if (known && !items.wanted()) continue;
    place(repetition);
    if (!known) {
      MeasuredCells cells;
      cells.time_us = median_time_us(*attention, device->l2, state);
      read_counters(device->counters, *attention, device->l2, state, cells);
      log.append(measured_row(point, repetition, cells));
      ++rows;
    }
    if (items.wanted()) items.record(point, repetition, *attention, device->l2, state);
  }
  if (!orders.wanted()) return "";
  if (!attention) place(0);
  return orders.record(point, *attention);
}

bool is_complete(const MeasurePlan& plan, int64_t repetitions, const ResultLog& log) {
  for (const MeasurePoint& point : plan.points)
    for (int64_t repetition = 0; repetition < repetitions; ++repetition)
      if (point.point.refusal.empty() && !log.has(repetition_cells(point, repetition)))
        return false;
  return true;
}

/// Throws UsageError where a row that is there was made from other files.
void refuse_changes(const MeasurePlan& plan, int64_t repetitions, ResultLog& log) {
  for (const MeasurePoint& point : plan.points)
    for (int64_t repetition = 0; repetition < repetitions; ++repetition)
      log.expect(repetition_cells(point, repetition));
  log.refuse_changes();
}

int measure(const MeasurePlan& plan) {
  const int64_t repetitions =
      std::stoll(value_or(plan.outputs, "repetitions", find_option("repetitions")->default_text));
  constexpr size_t with_repetition = key_column_count + 1;
  ResultLog log(csv_path(plan.outputs), old_rows(plan.outputs), with_repetition);
  refuse_changes(plan, repetitions, log);
  ItemTrace items(plan.outputs);
  OrderTables orders(plan.outputs);
  std::optional<Device> device;
  if (items.wanted() || orders.wanted() || !is_complete(plan, repetitions, log))
    device.emplace(pass_of(plan));
  const std::string no_counters = device ? device->counters.message() : "";
  if (!no_counters.empty()) std::cerr << "note: " << no_counters << "\n";
  if (plan.is_part) log.keep_refused();
  if (for_people(plan.outputs)) log.remember_rows();
  log.start();
  Progress progress(plan.points.size(), double(plan.points.size()), !is_on(plan.outputs, "quiet"));
  Failures failures;
  std::string notes;
  for (const MeasurePoint& point : plan.points) {
    int64_t rows = 0;
    const auto fail = [&](std::string_view status, const std::string& message) {
      failures.add(row_without_result(point.key_cells, status, message));
      bool is_said = false;  // one row says it, those of before stay
      for (int64_t repetition = rows; repetition < repetitions; ++repetition) {
        const CsvRow cells = repetition_cells(point, repetition);
        if (log.has(cells))
          log.keep(cells);
        else if (!std::exchange(is_said, true))
          log.append(row_without_result(cells, status, message));
      }
    };
    try {
      if (!point.point.refusal.empty()) throw Refusal(point.point.refusal);
      notes +=
          measure_point(point, repetitions, device ? &*device : nullptr, items, orders, log, rows);
    } catch (const UsageError& error) {
      fail(status_refused, error.what());
    } catch (const kernels::CudaError& error) {
      if (error.error() != cudaErrorMemoryAllocation) throw;  // others end the context too
      cudaGetLastError();                                     // or the next launch would report it
      fail(status_failed, "the GPU's memory is too small");
    }
    progress.advance(1);
    progress.draw();
  }
  log.finish();
  items.finish();
  orders.finish();
  if (for_people(plan.outputs)) std::cout << short_table(log.sweep_rows());
  if (!is_on(plan.outputs, "quiet")) std::cerr << notes;
  failures.print();
  if (!failures.empty()) return exit_check_failed;
  return no_counters.empty() ? exit_fine : exit_no_device;
}

}  // namespace

int run_measure(const Command& command, const Arguments& arguments) {
  const MeasurePlan plan = measure_plan(command, arguments);
  if (is_on(plan.outputs, "dry-run")) return dry_run(plan);
  try {
    return measure(plan);
  } catch (const kernels::CudaError& error) {
    std::cerr << "sawtooth measure: " << error.what() << "\n";
    return error.no_device() ? exit_no_device : exit_check_failed;
  }
}

}  // namespace sawtooth::experiments
