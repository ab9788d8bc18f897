// The schedule that best describes what a launch did.
//
// Order and launch: every section and Q order puts an item at a place of the work order. Under grid
// CTA c has place c, under static CTA c of W has places c, c + W ..., under dynamic places are
// taken in the order of time. Scan: of two tiles that follow each other in an item the scan must
// have the first one first. The share of items and of steps for which this holds is the judgement;
// the first of equally good ones is taken, in the order of the lists of scheduler/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/measure/measured_wavefront.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "scheduler/order.hpp"

namespace sawtooth::experiments {

// Items, tiles and steps that a stamp may speak for: some are lost.
inline constexpr int64_t most_a_stamp = 16;

struct Stamps {
  int64_t heads = 0;  // of all batches
  int64_t q_tiles = 0;
  std::vector<RecordedStep> steps;  // by time; `worker` is the CTA, `item` head * q_tiles + q_tile
};

/// Columns cta, item, tile, sm, time_ns with item = head * q_tiles + q_tile, or those of
/// `measure --order-trace`, where `q_tiles` may be 0. Throws UsageError with file and line.
Stamps read_stamps(const CsvTable& table, int64_t q_tiles);

/// What one CTA did of one item, its tiles in the order of time.
struct StampedRun {
  int64_t cta = 0, item = 0;
  int64_t first_ns = 0, last_ns = 0;
  std::optional<int64_t> after_ns;  // when the CTA began its item before
  std::vector<int64_t> tiles;
  bool whole = true;  // no other CTA was at this item
};

/// By first stamp.
std::vector<StampedRun> runs_of(const Stamps& stamps);

struct FoundSchedule {
  std::string launch;  // grid, static, dynamic, balanced
  std::string q_order;
  std::string scan;  // "random" where none of the others describes the steps
  int64_t section = 1;
  int64_t workers = 0;  // under grid: CTAs at once, or items a wave where only these say the scan
  double items_in_place = 0;  // share; under dynamic Kendall's tau of places and times
  double steps_in_order = 0;  // share

  /// Whether section and Q order describe the launch, so that no explicit order is needed.
  bool describes_order() const { return items_in_place >= enough; }
  static constexpr double enough = 0.9;  // stamps that are lost or late cost a few per cent
};

FoundSchedule find_schedule(const Stamps& stamps);

/// The items in the order of their places as the CTAs took them, for simulate --order-file (batch
/// 0, heads of all batches counted on). Throws UsageError when an item has no stamp.
std::vector<WorkCoordinates> observed_order(const Stamps& stamps, const FoundSchedule& found);

/// How far apart CTAs on one head are: the difference of their K/V tiles at the same time, largest
/// less smallest, over all heads and median steps at which several CTAs are.
struct Drift {
  double median_tiles = 0, p95_tiles = 0;
  int64_t step_ns = 0;  // median
};
Drift drift_of(const Stamps& stamps, const FoundSchedule& found);

}  // namespace sawtooth::experiments
