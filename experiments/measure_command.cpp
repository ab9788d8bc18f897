// sawtooth measure: runs the kernels of every point, reads counters, and times launches without
// the profiler. With --dry-run: what would run, with which metrics and passes, without a GPU.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "cupti/metric_plan.hpp"
#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/attention_on_device.hpp"
#include "experiments/command_line.hpp"
#include "experiments/exit_code.hpp"
#include "experiments/measure_points.hpp"
#include "experiments/progress.hpp"
#include "experiments/result_log.hpp"
#include "experiments/usage_error.hpp"
#include "kernels/stream/l2_state.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int timed_launches = 5;  // a repetition's time is their median

std::vector<std::string> names_of(const std::string& chip, std::span<const cupti::L2Counter> list) {
  return cupti::metrics_for(chip, list);
}

/// Counters of this process, or the reason why there are none.
class Counters {
 public:
  Counters() {
    try {
      profiler_.emplace();
      plan_ = profiler_->plan(names_of(profiler_->chip(), cupti::result_counters()),
                              names_of(profiler_->chip(), cupti::witness_counters()));
    } catch (const cupti::CounterError& error) {
      profiler_.reset();
      status_ = cupti::status_name(error.status());
      message_ = error.what();
    }
  }
  const std::string& message() const { return message_; }

  void read(AttentionOnDevice& attention, kernels::L2State& l2, kernels::L2StateKind state,
            MeasuredCells& cells) {
    if (!profiler_) {
      cells.status = status_;
      return;
    }
    const cupti::Reading reading =
        profiler_->measure(plan_, [&] { l2.prepare(state, [&] { attention.launch(); }); },
                           {{"attention", [&] { attention.launch(); }}});
    cells.replay_passes = reading.replay_passes;
    for (const cupti::L2CounterInfo& info : cupti::l2_counters()) {
      const cupti::MetricChoice choice = cupti::metric_for(profiler_->chip(), info.counter);
      if (!choice.available()) continue;
      const std::optional<int64_t> count = reading.ranges.front().count(choice.metric);
      if (!count) continue;
      constexpr double ns_per_us = 1000;
      if (info.counter == cupti::L2Counter::duration_ns)
        cells.profiled_time_us = double(*count) / ns_per_us;
      else
        cells.counts.emplace_back(info.column, *count);
    }
  }

 private:
  std::optional<cupti::RangeProfiler> profiler_;
  cupti::MetricPlan plan_;
  std::string status_, message_;
};

double median_time_us(AttentionOnDevice& attention, kernels::L2State& l2,
                      kernels::L2StateKind state) {
  std::vector<double> times;
  for (int i = 0; i < timed_launches; ++i) {
    l2.prepare(state, [&] { attention.launch(); });
    times.push_back(attention.time_us());
  }
  std::nth_element(times.begin(), times.begin() + timed_launches / 2, times.end());
  return times[timed_launches / 2];
}

/// Kernels, metrics and passes of every point on every chip of the tables.
int dry_run(const MeasurePlan& plan) {
  for (const MeasurePoint& point : plan.points) {
    const kernels::AttentionForward call = attention_call(point.point);
    const kernels::KernelVariant& variant =
        *kernels::find_variant(call.problem.head_dim, call.problem.dtype, call.tiling, call.family);
    std::cout << "point: seq " << call.problem.seq_q << "x" << call.problem.seq_kv << ", head_dim "
              << call.problem.head_dim << ", " << point.point.text("mask") << ", "
              << point.point.text("launch") << ", " << point.point.text("scan") << " -> kernel "
              << variant.family << " " << variant.tiling.q_rows << "x" << variant.tiling.kv_rows
              << ", " << variant.threads() << " threads, " << variant.shared_bytes
              << " bytes of shared memory, "
              << item_count(call.problem, variant.tiling, call.schedule) << " items\n";
  }
  for (const cupti::ChipInfo& chip : cupti::chips_with_table()) {
    std::cout << chip.name << " (" << chip.products << "): ";
    try {
      const std::string name(chip.name);
      const cupti::MetricPlan metrics =
          cupti::plan_metrics(name, names_of(name, cupti::result_counters()),
                              names_of(name, cupti::witness_counters()));
      std::cout << metrics.passes() << " passes\n";
      for (const cupti::L2Counter counter : cupti::result_counters()) {
        const cupti::MetricChoice choice = cupti::metric_for(name, counter);
        std::cout << "  " << cupti::column_of(counter) << ": "
                  << (choice.available() ? choice.metric : choice.reason) << "\n";
      }
    } catch (const cupti::CounterError& error) {
      std::cout << "passes unknown here: " << error.what() << "\n";
    }
  }
  return exit_fine;
}

}  // namespace

int run_measure(const Command& command, const Arguments& arguments) {
  const MeasurePlan plan = measure_plan(command, arguments);
  if (is_on(plan.outputs, "dry-run")) return dry_run(plan);
  try {
    Counters counters;
    if (!counters.message().empty()) std::cerr << "note: " << counters.message() << "\n";
    kernels::L2State l2;
    const int64_t repetitions =
        std::stoll(value_or(plan.outputs, "repetitions", find_option("repetitions")->default_text));
    ResultLog log(value_or(plan.outputs, "csv", "-"), false);
    log.start();
    Progress progress(plan.points.size(), double(plan.points.size()),
                      !is_on(plan.outputs, "quiet"));
    for (const MeasurePoint& point : plan.points) {
      AttentionOnDevice attention(point.point);
      const auto state = kernels::l2_state_named(point.point.text("state"));
      if (!state) throw UsageError("state: allowed: cold, warm, as-is");
      attention.launch();  // loads the kernel, so that no later launch pays for it
      for (int64_t repetition = 0; repetition < repetitions; ++repetition) {
        MeasuredCells cells;
        cells.time_us = median_time_us(attention, l2, *state);
        counters.read(attention, l2, *state, cells);
        log.append(measured_row(point, repetition, cells));
      }
      progress.advance(1);
      progress.draw();
    }
    log.finish();
    return counters.message().empty() ? exit_fine : exit_no_device;
  } catch (const kernels::CudaError& error) {
    std::cerr << "sawtooth measure: " << error.what() << "\n";
    return error.no_device() ? exit_no_device : exit_check_failed;
  }
}

}  // namespace sawtooth::experiments
