#include "experiments/sawtooth/simulate/simulated_points.hpp"

#include <algorithm>
#include <vector>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

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
  for (const Point& point : points) refuse_idle_curves(given.outputs, *point.keys.l2);
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

}  // namespace sawtooth::experiments
