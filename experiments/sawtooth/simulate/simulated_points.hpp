// The points of a sweep that simulate runs, one at a time: resolved, each once, of one shard.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct SimulatedPoint {
  size_t index = 0;  // in the list
  size_t place = 0;  // among those that are run, in the order of the list
  Point point;
  CsvRow key_cells;
  double cost_s = 0;                   // of one core, by a rough model
  std::shared_ptr<RingReplays> rings;  // of the sweep
};

/// A sweep and what holds for all of its points.
class SimulatedSweep {
 public:
  /// Throws UsageError for what is wrong with the list as a whole.
  explicit SimulatedSweep(const SweepArguments& given);

  const PointList& list() const { return list_; }
  const std::string& experiment() const { return experiment_; }
  const Shard& shard() const { return shard_; }
  /// Resolves one point of the list, whatever its shard.
  SimulatedPoint at(size_t index);
  const std::map<std::string, std::string>& limits() const { return catalog_.limits(); }

 private:
  Point resolved(Settings settings);

  PointList list_;
  Shard shard_;
  std::string experiment_;
  bool lockstep_lru_;  // as take_lockstep_lru()
  Catalog catalog_;
  std::shared_ptr<RingReplays> rings_ = std::make_shared<RingReplays>();
};

/// From the first point to the last.
class SimulatedPoints {
 public:
  explicit SimulatedPoints(SimulatedSweep& sweep)
      : sweep_(sweep), may_repeat_(sweep.list().may_repeat()) {}

  std::optional<SimulatedPoint> next();
  /// How many next() has returned.
  size_t count() const { return places_; }

 private:
  SimulatedSweep& sweep_;
  bool may_repeat_;
  std::unordered_set<TextKey, TextKey::Hash> seen_;  // where points may repeat
  size_t index_ = 0, places_ = 0;
};

/// simulate --dry-run: what a sweep would take, to standard output; returns an exit code.
int dry_run(SimulatedSweep& sweep, const Settings& outputs);

}  // namespace sawtooth::experiments
