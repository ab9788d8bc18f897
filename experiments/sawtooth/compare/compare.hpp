// Joins two tables with the columns of results.csv and computes the errors of every counter.
//
// Rows join when gpu, kernel family (the name up to its first '-'), pass, all problem and schedule
// columns and state agree, and their systems too where both name one. A prediction without a kernel
// stands for every kernel, an empty cell of a published row means "not published", and a measured
// row of a known system whose launch is empty was measured from outside: how it orders its work is
// not known, and it joins the predictions of that system. Rows of one side that agree in all of
// these are repetitions, of which the medians are compared. Predictions that differ in a column of
// the model, or in how they were made, are groups of their own.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/compare/compared_points.hpp"
#include "experiments/sawtooth/compare/join_points.hpp"
#include "experiments/sawtooth/inputs/tolerances.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// A point that both tables have.
struct JoinedPoint {
  std::string_view group;  // the model of the prediction: "lockstep, lru, 30 MiB, sawtooth 0.1.0"
  PointKey key;            // measured cells, predicted ones where those are empty
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

/// One counter at one joined point. Small, as long tables have millions of them.
struct PointError {
  const JoinedPoint* point = nullptr;
  std::string_view counter;
  double predicted = 0;
  double measured = 0;
  const LaunchSpread* launches = nullptr;       // null for a single one
  const PredictedInterval* interval = nullptr;  // null where the prediction has none

  /// (predicted - measured) / measured; nothing when only measured is 0.
  std::optional<double> relative() const;
  double low() const { return launches == nullptr ? measured : launches->low; }
  double high() const { return launches == nullptr ? measured : launches->high; }
  std::optional<double> noise() const {
    return launches == nullptr ? std::nullopt : launches->noise;
  }
  /// (high - low) / measured: how far launches of this point differ from each other.
  double spread() const { return measured == 0 ? 0 : (high() - low()) / measured; }
};

struct Comparison {
  Comparison() = default;
  Comparison(Comparison&&) = default;  // not copied: errors point into it
  Comparison& operator=(Comparison&&) = default;

  std::shared_ptr<PointKeys> keys;
  std::deque<JoinedPoint> joined;  // to which errors point
  std::deque<LaunchSpread> launches;
  std::deque<PredictedInterval> intervals;
  std::vector<PointError> errors;
  size_t predicted_points = 0;  // after medians
  size_t measured_points = 0;
  size_t predicted_alone = 0;  // of these, without a partner
  size_t measured_alone = 0;
  ColumnsApart apart;
};

/// The counters of a comma-separated list, all that can be compared for an empty one. Throws
/// UsageError that begins with `place` for one that cannot.
std::vector<std::string_view> counters_named(const std::string& list, const std::string& place);

/// The columns that comparing `counters` takes from both tables, where they are.
std::vector<std::string> compared_columns(const std::vector<std::string_view>& counters);

/// Compares `counters` where both sides have a value. Both sides have compared_columns(counters)
/// and the same keys.
Comparison compare_points(const ComparedPoints& predicted, const ComparedPoints& measured,
                          const std::vector<std::string_view>& counters);
/// The same for tables. Throws UsageError with file and line for a missing column or a cell that is
/// no number.
Comparison compare_tables(const CsvTable& predicted, const CsvTable& measured,
                          const std::vector<std::string_view>& counters);

}  // namespace sawtooth::experiments
