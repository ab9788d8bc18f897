#include "experiments/sawtooth/measure/counter_plan.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "kernels/attention/variant_list.hpp"

namespace sawtooth::experiments {
namespace {

void assign_passes(CounterPlan& plan, std::span<const cupti::L2Counter> counters) {
  const cupti::MetricPlan metrics =
      cupti::plan_metrics(plan.chip, cupti::metrics_for(plan.chip, counters),
                          cupti::metrics_for(plan.chip, cupti::witness_counters()));
  plan.passes = metrics.passes();
  int pass = 1;
  for (const cupti::MetricGroup& group : metrics.groups) {
    for (PlannedCounter& counter : plan.counters) {
      const auto& names = group.metrics();
      if (std::find(names.begin(), names.end(), counter.metric) != names.end())
        counter.passes.push_back(pass);
    }
    pass += static_cast<int>(group.passes());
  }
}

}  // namespace

CounterPlan plan_counters(std::string_view chip, std::span<const cupti::L2Counter> counters) {
  CounterPlan plan{std::string(chip), {}, 0, ""};
  std::vector<cupti::L2Counter> all(cupti::witness_counters().begin(),
                                    cupti::witness_counters().end());
  all.insert(all.end(), counters.begin(), counters.end());
  for (const cupti::L2Counter counter : all) {
    const cupti::MetricChoice choice = cupti::metric_for(chip, counter);
    plan.counters.push_back({std::string(cupti::column_of(counter)),
                             std::string(choice.metric),
                             std::string(choice.reason),
                             {}});
  }
  try {
    assign_passes(plan, counters);
  } catch (const cupti::CounterError& error) {
    plan.problem = error.what();
  }
  return plan;
}

CounterPlan plan_results(std::string_view chip, Pass pass) {
  return plan_counters(chip, counters_of(pass));
}

std::span<const cupti::L2Counter> counters_of(Pass pass) {
  return pass == Pass::forward ? cupti::result_counters()
                               : cupti::result_counters_with_reductions();
}

void print_counter_plan(std::ostream& out, const CounterPlan& plan) {
  out << plan.chip << " (" << cupti::chip_info(plan.chip).products << "): ";
  if (plan.problem.empty())
    out << plan.passes << " replay passes a repetition\n";
  else
    out << "passes unknown, " << plan.problem << '\n';
  for (const PlannedCounter& counter : plan.counters) {
    std::string when = "none";
    if (!counter.metric.empty()) {
      when = "pass ";
      for (const int pass : counter.passes) {
        if (pass != counter.passes.front()) when += ',';
        when += std::to_string(pass);
      }
      if (counter.passes.empty()) when += '?';
    }
    out << "  " << std::left << std::setw(26) << counter.column << ' ' << std::setw(12) << when
        << ' ' << (counter.metric.empty() ? counter.reason : counter.metric) << '\n';
  }
}

void print_planned_point(std::ostream& out, const Point& point, std::string_view family,
                         const Tiling& tiling, int64_t shared_bytes) {
  const Problem& problem = point.request.problem;
  out << "point: seq " << problem.seq_q << "x" << problem.seq_kv << ", head_dim "
      << kernels::HeadDims(problem).text() << ", " << point.text("mask") << ", "
      << point.text("launch") << ", " << point.text("scan") << " -> kernel " << family << " "
      << tiling.q_rows << "x" << tiling.kv_rows << ", " << shared_bytes
      << " bytes of shared memory, " << item_count(problem, tiling, point.request.schedule)
      << " items\n";
}

std::string no_room(const Point& point, int64_t shared_bytes) {
  const auto& most = point.gpu.shared_memory_block_bytes;
  if (!most || shared_bytes <= *most) return "";
  return "gpu: a block has " + std::to_string(*most) + " bytes of shared memory on " +
         point.keys.gpu + "; the kernel takes " + std::to_string(shared_bytes);
}

void print_counter_plans(std::ostream& out, Pass pass) {
  for (const cupti::ChipInfo& chip : cupti::chips_with_table())
    print_counter_plan(out, plan_results(chip.name, pass));
}

}  // namespace sawtooth::experiments
