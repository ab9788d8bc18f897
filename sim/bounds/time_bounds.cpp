#include "sim/bounds/time_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/bounds/read_bounds.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {
namespace {

constexpr double ns_a_us = 1000;
constexpr double deviations = 4;  // of a normal sample, passed once in 30,000

// The share of a step's time that stays when its random parts are lucky together: the jitter of
// `steps` in a row, the fastest GPC, the faster SM of a TPC.
double least_share(const StepParameters& step, double steps) {
  const double jitter =
      std::max({step.jitter, step.jitter_shared.value_or(0), step.jitter_in_step.value_or(0)});
  const double spread = deviations * step.sm_spread.value_or(0);
  const double lucky = deviations * jitter / std::sqrt(std::max(1.0, steps));
  return std::max(0.0, 1 - spread - std::abs(step.tpc_spread) - lucky);
}

}  // namespace

TimeBounds time_bounds(const Request& request, const Gpu& gpu) {
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  const Schedule& schedule = request.schedule;
  const TimedParameters parameters = timed_parameters(request, gpu, true);
  const StepParameters& step = parameters.step;
  const StepCost cost = step_cost(step, problem, tiling);
  const bool grid = schedule.launch == launch_id<GridLaunch>;
  const int64_t resident = parameters.resident_ctas == 0
                               ? schedule.workers
                               : min_of(schedule.workers, parameters.resident_ctas * gpu.sms);
  const int64_t workers = grid ? resident : schedule.workers;
  const double prefetch_ns =
      schedule.prefetch > 0
          ? std::min({0.0, step.prefetch.added_ns(0), step.prefetch.added_ns(1),
                      step.prefetch_shared.added_ns(0), step.prefetch_shared.added_ns(1)})
          : 0;
  const double item_ns =
      step.item_begin_ns + step.item_end_ns - std::abs(step.item_spread_ns) + parameters.l2.near_ns;

  // Items that see nothing are left out. Steps by worker under a stride, pieces as they are cut.
  std::vector<double> items_ns, workers_ns(static_cast<size_t>(workers), 0.0);
  double steps = 0, longest = 0;
  for (int64_t i = 0; i < item_count(problem, tiling, schedule); ++i)
    steps += double(item_at(problem, tiling, schedule, i).scanned.size());
  const double share = least_share(step, steps / double(workers));
  const double step_ns = std::max(0.0, (cost.alone_ns() + prefetch_ns) * share);
  for (int64_t i = 0; i < item_count(problem, tiling, schedule); ++i) {
    const int64_t tiles = item_at(problem, tiling, schedule, i).scanned.size();
    if (tiles == 0) continue;
    const double ns = item_ns + double(tiles) * step_ns;
    items_ns.push_back(ns);
    longest = std::max(longest, ns);
    if (strides(schedule.launch)) workers_ns[static_cast<size_t>(i % workers)] += ns;
  }
  double of_all = 0;
  if (cuts_last_wave(schedule)) {  // other orders cut other items
    of_all = steps * step_ns / double(workers);
  } else {
    of_all = busiest_worker(items_ns, workers);
  }
  const double pipes_ns = std::max(0.0, (cost.pipe_ns() + prefetch_ns) * share);
  of_all = std::max(of_all, steps * pipes_ns / double(gpu.sms));
  const ReadBounds reads = read_bounds(problem, tiling, schedule, request.l2_bytes);
  if (parameters.l2.dram_bytes_a_ns > 0)
    of_all =
        std::max(of_all, double(reads.all_orders * sector_bytes) / parameters.l2.dram_bytes_a_ns);
  double of_this = of_all;
  for (const double ns : workers_ns) of_this = std::max(of_this, ns);
  // The first tile of all comes from DRAM; its near half was counted with its item.
  const double first_ns =
      step.launch_ns.value_or(0) + std::max(0.0, parameters.l2.dram_ns - parameters.l2.near_ns);
  return {(first_ns + of_all) / ns_a_us, (first_ns + of_this) / ns_a_us};
}

}  // namespace sawtooth::sim
