// Joins two tables with the columns of results.csv and computes the errors of every counter.
//
// Rows join when gpu, kernel family (the name up to its first '-'), pass, all problem and schedule
// columns and state agree, and their systems too where both name one. Both have to name the gpu. A
// prediction without a kernel stands for every kernel, an empty cell of a published row means "not
// published", and a measured row of a known system whose launch is empty was measured from outside:
// how it orders its work is not known, and it joins the predictions of that system. Rows of one
// side that agree in all of these are repetitions, of which the medians are compared. Predictions
// that differ in a column of the model, or in how they were made, are groups of their own.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/compare/point_table.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// A point that both tables have.
struct JoinedPoint {
  std::string group;    // the model of the prediction: "lockstep, lru, 30 MiB, sawtooth 0.1.0"
  CsvRow key;           // cells of join_columns(): measured, or predicted where those are empty
  std::string problem;  // the same for points that differ in their schedules alone
  /// Measured DRAM reads / compulsory reads, where both are known.
  std::optional<double> over_compulsory{};
};

/// What several measured launches of a point say of each other.
struct LaunchSpread {
  size_t count = 1;
  double low = 0;  // 5 and 95 % of them, between order statistics linearly
  double high = 0;
  /// The error of a forecast that has the point's other launches: the median over launches of
  /// |median of the others / launch - 1|. Nothing where it is not defined.
  std::optional<double> noise{};
};

/// Where a prediction says that 90 % of measured values lie (columns X_low and X_high).
struct PredictedInterval {
  double low = 0;
  double high = 0;
};

/// One counter at one joined point.
struct PointError {
  const JoinedPoint* point = nullptr;
  std::string_view counter;
  double predicted = 0;
  double measured = 0;
  LaunchSpread launches{};
  std::optional<PredictedInterval> interval{};

  /// (predicted - measured) / measured; nothing when only measured is 0.
  std::optional<double> relative() const;
  /// (high - low) / measured: how far launches of this point differ from each other.
  double spread() const { return measured == 0 ? 0 : (launches.high - launches.low) / measured; }
};

struct Comparison {
  Comparison() = default;
  Comparison(Comparison&&) = default;  // not copied: errors point into it
  Comparison& operator=(Comparison&&) = default;

  std::deque<JoinedPoint> joined;  // to which errors point
  std::vector<PointError> errors;
  size_t predicted_points = 0;  // after medians
  size_t measured_points = 0;
  size_t predicted_alone = 0;  // of these, without a partner
  size_t measured_alone = 0;
  /// What keeps predicted points without a partner from the measured ones that are nearest to them,
  /// by column. Of a long table the first ones are looked at.
  struct Apart {
    size_t points = 0;
    std::string cells;  // of one of them: "linear, not sawtooth", or "is empty in FILE"
  };
  std::map<std::string_view, Apart> apart;
  size_t looked_at = 0;
};

/// The counters of a comma-separated list, all that can be compared for an empty one. Throws
/// UsageError that begins with `place` for one that cannot.
std::vector<std::string_view> counters_named(const std::string& list, const std::string& place);

/// Compares `counters` where both sides have a value. Throws UsageError with file and line for a
/// missing column or a cell that is no number, and for two tables of predictions.
Comparison compare_tables(const CsvTable& predicted, const CsvTable& measured,
                          const std::vector<std::string_view>& counters);

// A test on locality: predicted counters of a table must not be above those of one that was kept.
//
// A point is held against the one of the same gpu, system, kernel family, problem and schedule. A
// schedule that has changed is held against the only one of the same problem.

struct NoWorse {
  std::vector<std::string> worse;    // a line a point and counter that rose
  std::vector<std::string> missing;  // a line a kept point without a new one
  size_t compared = 0;               // points
};

/// Points without any of `counters` are left out. `tolerances` say by which share a counter may
/// rise; without one it may not. Throws UsageError for a missing column, for several kept schedules
/// of one problem where none is the point's, and where two points were predicted by different
/// models.
NoWorse compare_with_kept(const CsvTable& predicted, const CsvTable& kept,
                          const std::vector<std::string_view>& counters,
                          const Tolerances& tolerances);

}  // namespace sawtooth::experiments
