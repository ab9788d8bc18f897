#include "experiments/sawtooth/simulate/simulated_points.hpp"

#include <algorithm>
#include <iostream>
#include <vector>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/lru/simulate_lru.hpp"

namespace sawtooth::experiments {
namespace {

bool has_curves(const Settings& outputs) {
  return outputs.contains("miss-curve") || outputs.contains("histogram");
}

// What only the L2 model `sets` reads is refused where no point has that model.
void refuse_idle_sets_keys(const PointList& list, const std::vector<Point>& points) {
  if (std::ranges::any_of(points, [](const Point& p) { return p.keys.l2->name == "sets"; })) return;
  for (const Settings& sweep : list.sweeps()) {
    for (const ResultColumn& column : SetsKeys::columns) {
      const std::string key = key_of_column(column.name);
      if (sweep.contains(key))
        throw UsageError(place_of(key, sweep.at(key).origin) + ": has no effect without l2 = sets");
    }
  }
}

// What shows one launch on one GPU.
void refuse_tables_of_a_ring(const Settings& outputs, const std::vector<Point>& points) {
  if (std::ranges::none_of(points, [](const Point& p) { return p.ring.has_value(); })) return;
  for (const char* key : {"miss-curve", "histogram", "wavefront", "timeline"})
    if (outputs.contains(key))
      throw UsageError(place_of(key, outputs.at(key).origin) + ": a ring has none; leave it out");
}

// Seconds of one core, each from points of some tenths of a second. Workers that are at one tile in
// lockstep are replayed as one; under LRU rounds that repeat are multiplied, and items remain.
constexpr double timed_visit_s = 0.1e-6, timed_item_s = 7e-6;
constexpr double placed_tile_s = 0.4e-6, empty_tile_s = 0.04e-6;  // in halves; beyond a sequence
constexpr double lockstep_tile_s = 0.7e-6, line_by_line_tile_s = 1.5e-6, lockstep_visit_s = 0.02e-6;
constexpr double repeated_item_s = 0.3e-6;
// What a point takes however small it is.
constexpr double least_seconds = 100e-6;
constexpr double bytes_a_tile = 80;   // of a head that workers are at
constexpr double bytes_a_line = 25;   // of L2 that keeps what heads left there
constexpr double least_bytes = 14e6;  // the program's own

/// What takes time and memory: items, pairs of tiles, and tiles of Q and K.
struct Work {
  double items = 0, pairs = 0, tiles = 0;
};

Work work_of(const Problem& problem, const sim::Request& request) {
  const auto q = static_cast<double>(q_tiles(problem, request.tiling));
  const auto kv = static_cast<double>(kv_tiles(problem, request.tiling));
  double seen = kv;  // K/V tiles of a Q tile, on average
  if (problem.mask.kind == MaskKind::causal) seen = (kv + 1) / 2;
  if (is_listed(problem.mask)) seen = double(visited_kv_tiles(problem, request.tiling)) / q;
  if (problem.mask.kind == MaskKind::window) {
    const auto rows = static_cast<double>(problem.mask.window + request.tiling.q_rows);
    seen = std::min(kv, rows / static_cast<double>(request.tiling.kv_rows) + 1);
  }
  const auto heads = static_cast<double>(problem.batch * problem.heads);
  return {double(item_count(problem, request.tiling, request.schedule)), heads * q * seen,
          heads * (q + kv / double(problem.heads_per_kv_head()))};
}

/// The same over all sequences.
Work work_of(const sim::Request& request) {
  if (request.sequences.lengths == nullptr) return work_of(request.problem, request);
  Work all;
  for (int64_t batch = 0; batch < request.problem.batch; ++batch) {
    Problem own = request.sequences.of(request.problem, batch);
    own.batch = 1;
    const Work work = work_of(own, request);
    all = {all.items + work.items, all.pairs + work.pairs, all.tiles + work.tiles};
  }
  return all;
}

// Tensors that a step visits: K and V; Q, log-sum-exp, dO, row sums and dQ.
double tensors_a_step(const sim::Request& request) {
  return request.problem.pass == Pass::backward ? 5 : 2;
}

/// `most_tiles`: if all sequences were as long as the longest.
double seconds_of(const Point& point, const Work& work, double most_tiles) {
  const sim::Request& request = point.request;
  const double tensors = tensors_a_step(request), visits = tensors * work.pairs;
  const double placed_s = point.keys.l2->name == "halves" ? placed_tile_s : 0;
  const double timed_s =
      visits * timed_visit_s + work.items * timed_item_s +
      tensors * (work.tiles * placed_s + (most_tiles - work.tiles) * empty_tile_s);
  const double ends_s = double(point.kernel_ends.size()) * timed_s;
  if (request.timing == sim::Timing::timed) return timed_s + ends_s;
  const std::string_view l2 = point.keys.l2->name;
  // Workers that share a K/V head.
  const double sharers = std::clamp(
      double(q_tiles(request.problem, request.tiling) * request.problem.heads_per_kv_head()), 1.0,
      double(request.schedule.workers));
  const double tile_s = l2 == "sets" || l2 == "opt" ? line_by_line_tile_s : lockstep_tile_s;
  const double lockstep_s = l2 == "lru" && request.use_period && sim::has_rounds(request)
                                ? work.items * repeated_item_s
                                : visits * lockstep_visit_s + visits / sharers * tile_s;
  return ends_s + (point.spans_models() ? 2 * lockstep_s + timed_s : lockstep_s);
}

std::string duration(double seconds) {
  constexpr double minute = 60, hour = 3600, day = 86400;
  if (seconds < minute) return fixed(seconds, seconds < 1 ? 3 : 1) + " s";
  if (seconds < hour) return fixed(seconds / minute, 1) + " min";
  if (seconds < day) return fixed(seconds / hour, 1) + " h";
  return fixed(seconds / day, 1) + " days";
}

/// What a point is expected to take, before it is simulated: a rough model, good enough to say
/// whether a sweep takes minutes or days, and which of two points is the longer one.
struct PointCost {
  double seconds = 0;  // of one core
  double bytes = 0;    // of memory
};

/// Nothing for a refused point.
PointCost expected_cost(const Point& point) {
  if (!point.refusal.empty()) return {};
  const sim::Request& request = point.request;
  const Problem& problem = request.problem;
  const auto launches = static_cast<double>(std::max<int64_t>(1, request.launches));
  const double most_tiles = work_of(problem, request).tiles;
  // Heads that are done make room for others; in time those of several lengths stay.
  const auto heads = static_cast<double>(problem.batch * problem.heads);
  const auto in_flight = double(request.schedule.workers / q_tiles(problem, request.tiling));
  const bool all_stay = request.sequences.lengths != nullptr &&
                        (request.timing == sim::Timing::timed || point.spans_models());
  double live = heads;
  if (!all_stay)
    live = std::min(heads, 1 + std::max(double(request.schedule.order.section), in_flight));
  const double lines = point.keys.l2->name == "lru" ? 0 : double(request.l2_bytes / line_bytes);
  // All rows of a ring share its GPUs' replays; that of the whole also has the plain problem.
  const double part = point.ring && point.keys.ring_step
                          ? 1 / static_cast<double>(point.ring->ranks * point.ring->ranks)
                          : 1;
  return {least_seconds + part * launches * seconds_of(point, work_of(request), most_tiles),
          least_bytes + tensors_a_step(request) * most_tiles * live / heads * bytes_a_tile +
              lines * bytes_a_line};
}

}  // namespace

SimulatedSweep::SimulatedSweep(const SweepArguments& given)
    : list_(given.configuration, given.command_line),
      shard_(shard_of(given.outputs)),
      experiment_(given.experiment),
      lockstep_lru_(has_curves(given.outputs)) {
  std::vector<Point> points;  // all models between them
  for (const Settings& settings : deciding_points(list_, catalog_))
    points.push_back(resolved(settings));
  refuse_idle_sets_keys(list_, points);
  for (const Point& point : points)
    refuse_idle_curves(given.outputs, *point.keys.l2, *point.keys.timing);
  refuse_tables_of_a_ring(given.outputs, points);
}

Point SimulatedSweep::resolved(Settings settings) {
  if (lockstep_lru_) take_lockstep_lru(settings, catalog_);
  Point point = resolve_or_refuse(settings, catalog_);
  if (point.keys.state != L2Content::cold)
    throw UsageError("state: simulate starts from an empty L2; allowed: cold");
  return point;
}

SimulatedPoint SimulatedSweep::at(size_t index) {
  SimulatedPoint made;
  made.index = index;
  made.point = resolved(list_[index]);
  made.key_cells = key_cells(made.point, experiment_, "predicted");
  made.cost_s = expected_cost(made.point).seconds;
  made.rings = rings_;
  return made;
}

std::optional<SimulatedPoint> SimulatedPoints::next() {
  while (index_ < sweep_.list().size()) {
    SimulatedPoint made = sweep_.at(index_++);
    if (may_repeat_ && !seen_.insert(TextKey(row_key(made.key_cells))).second) continue;
    if (sweep_.shard().count > 1 && !sweep_.shard().has(run_id(made.key_cells))) continue;
    made.place = places_++;
    return made;
  }
  return std::nullopt;
}

int dry_run(SimulatedSweep& sweep, const Settings& outputs) {
  constexpr double mebibyte = 1 << 20;
  // Reading the old rows writes nothing.
  const ResultLog log(value_or(outputs, "csv", "-"), old_rows(outputs));
  SimulatedPoints points(sweep);
  Failures refused;
  int64_t there = 0, cannot_run = 0;
  double sum_s = 0, longest_s = 0, most_bytes = 0;
  while (const auto point = points.next()) {
    if (!point->point.refusal.empty()) {
      ++cannot_run;
      refused.add(row_without_result(point->key_cells, status_refused, point->point.refusal));
      continue;
    }
    if (log.has(point->key_cells)) {
      ++there;
      continue;
    }
    const PointCost cost = expected_cost(point->point);
    sum_s += cost.seconds;
    longest_s = std::max(longest_s, cost.seconds);
    most_bytes = std::max(most_bytes, cost.bytes);
  }
  const auto all = static_cast<int64_t>(points.count());
  std::cout << "points: " << all << "\n";
  if (cannot_run > 0) std::cout << "  of them cannot be run: " << cannot_run << "\n";
  if (log.has_old_rows()) std::cout << "  of them have a row: " << there << "\n";
  std::cout << "expected time, to a factor of about 3: " << duration(sum_s)
            << " of one core, the longest point " << duration(longest_s)
            << "\nexpected memory: up to " << fixed(most_bytes / mebibyte, 0)
            << " MiB for each point that is simulated at once\n";
  refused.print();
  return cannot_run == 0 ? exit_fine : exit_check_failed;
}

}  // namespace sawtooth::experiments
