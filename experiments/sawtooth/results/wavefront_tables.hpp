// The wavefront of a point: which worker stands at which tile at each step, as a table for the
// heat map and as a Chrome trace (Trace Event Format, "complete" events) that Perfetto opens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

struct WavefrontStep {
  int64_t step = 0, worker = 0, item = 0;
  int64_t batch = 0, head = 0, q_tile = 0, kv_tile = 0;
};

/// Waves that a table has where it is not said how many steps.
inline constexpr int64_t usual_waves = 2;

struct Wavefront {
  std::vector<WavefrontStep> steps;
  bool is_cut = false;  // the schedule has more
};

/// The first `steps` steps of the lockstep replay, in time order, workers ascending in a step;
/// without a number those in which an item of the first two waves is in flight.
Wavefront wavefront_steps(const sim::Request& request, std::optional<int64_t> steps);

/// What wavefront-steps asks for; nothing: two waves.
std::optional<int64_t> steps_asked_for(const Settings& outputs);
/// "note: ..." of a table that ends before its schedule does.
std::string cut_note(const CsvRow& key_cells, std::optional<int64_t> steps);

std::string wavefront_header();
std::string wavefront_rows(const CsvRow& key_cells, const std::vector<WavefrontStep>& wavefront);

/// One process a point, one row a worker, one slice a step of 1 us; where that would be more than
/// 200,000 slices, one slice an item.
/// `points` has the key cells and the wavefront of each point.
struct TimelinePoint {
  CsvRow key_cells;
  std::vector<WavefrontStep> wavefront;
};
std::string timeline_json(const std::vector<TimelinePoint>& points);

/// The files that the options wavefront and timeline ask for.
class WavefrontFiles {
 public:
  /// Opens them; throws UsageError for one that cannot be written.
  explicit WavefrontFiles(const Settings& outputs);

  bool empty() const { return !table_ && !timeline_; }
  /// Adds a point; returns a note where its wavefront is cut.
  std::string add(const sim::Request& request, const CsvRow& key_cells);
  /// Returns a note where a timeline has several points.
  std::string commit();

 private:
  std::optional<int64_t> steps_;
  std::optional<OutputFile> table_, timeline_;
  std::string timeline_path_;
  std::vector<TimelinePoint> points_;  // of the timeline
};

}  // namespace sawtooth::experiments
