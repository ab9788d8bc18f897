#include "sim/bounds/bounds.hpp"

#include <cmath>

#include "scheduler/memory_units.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {
namespace {

/// The rows of `tiles` have so many sectors in K and V.
int64_t kv_sectors(const Problem& problem, const Tiling& tiling, const Range& tiles) {
  const int64_t end = min_of(problem.seq_kv, tiles.end * tiling.kv_rows);
  const int64_t rows = tiles.empty() ? 0 : end - tiles.begin * tiling.kv_rows;
  const int64_t k = ceil_div(rows * problem.k_row_bytes(), sector_bytes);
  return k + (problem.kv_latent ? 0 : ceil_div(rows * problem.v_row_bytes(), sector_bytes));
}

/// Q tiles that see something are read.
int64_t q_sectors(const Problem& problem, const Tiling& tiling) {
  int64_t rows = 0;
  for (int64_t tile = 0; tile < q_tiles(problem, tiling); ++tile)
    if (!visible_kv_tiles(problem, tiling, tile).empty())
      rows += tile_rows(tile, tiling.q_rows, problem.seq_q).size();
  return problem.batch * problem.heads * ceil_div(rows * problem.row_bytes(), sector_bytes);
}

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

int64_t kv_head_bound(std::vector<int64_t> item_sectors, int64_t union_sectors,
                      int64_t capacity_sectors, int64_t workers, int64_t cut_items) {
  std::sort(item_sectors.begin(), item_sectors.end());
  // The bound grows with every item, so those that may be cut are the largest.
  const auto whole = static_cast<int64_t>(item_sectors.size()) - cut_items;
  if (whole <= 0) return union_sectors;
  item_sectors.resize(static_cast<size_t>(whole));
  for (int64_t& sectors : item_sectors) sectors = max_of(0, sectors - capacity_sectors);
  const int64_t busiest = busiest_worker(std::move(item_sectors), workers);
  // Its first item beyond the capacity finds what others have read before.
  return max_of(union_sectors, busiest > 0 ? busiest + capacity_sectors : 0);
}

ReadBounds read_bounds(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                       int64_t l2_bytes) {
  std::vector<int64_t> items;  // of one K/V head
  Range seen{kv_tiles(problem, tiling), 0};
  for (int64_t tile = 0; tile < q_tiles(problem, tiling); ++tile) {
    for (int64_t part = 0; part < schedule.kv_split; ++part) {
      const Range tiles = part_of(visible_kv_tiles(problem, tiling, tile), part, schedule.kv_split,
                                  kv_tiles(problem, tiling));
      if (tiles.empty()) continue;
      seen = {min_of(seen.begin, tiles.begin), max_of(seen.end, tiles.end)};
      items.insert(items.end(), static_cast<size_t>(problem.heads_per_kv_head()),
                   kv_sectors(problem, tiling, tiles));
    }
  }
  const int64_t kv_heads = problem.batch * problem.kv_heads;
  const int64_t once = kv_sectors(problem, tiling, seen);
  const int64_t q = q_sectors(problem, tiling);
  ReadBounds bounds{q + kv_heads * once, q + kv_heads * once};
  if (schedule.loop == Loop::kv_outer) return bounds;
  const int64_t cut =
      cuts_last_wave(schedule) ? whole_item_count(problem, tiling, schedule) % schedule.workers : 0;
  const int64_t capacity = l2_bytes / line_bytes * sectors_per_line;
  bounds.all_orders =
      q + kv_heads * kv_head_bound(std::move(items), once, capacity, schedule.workers, cut);
  return bounds;
}

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
  const double item_ns = step.item_begin_ns + step.item_end_ns + parameters.l2.near_ns;

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
