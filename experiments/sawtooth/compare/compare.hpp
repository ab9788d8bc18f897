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

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/tolerances.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// A version that begins with this is a baseline, and its name alone is its group.
inline constexpr std::string_view baseline_prefix = "baseline: ";

/// One counter at one joined pair of points.
struct PointError {
  std::string group;  // the model of the prediction: "lockstep, lru, 30 MiB, sawtooth 0.1.0"
  std::string counter;
  CsvRow key;  // the cells of join_columns(), the measured ones where a prediction leaves them open
  double predicted = 0;
  double measured = 0;
  /// (predicted - measured) / measured; nothing when only measured is 0.
  std::optional<double> relative{};
  /// 5 and 95 % of the measured launches, between order statistics linearly; both are `measured`
  /// when there is one launch.
  double low = 0;
  double high = 0;
  size_t launches = 1;
  /// Measured DRAM reads / compulsory reads of the point, where both are known.
  std::optional<double> over_compulsory{};

  /// The error of a forecast that has the point's other launches: the median over launches of
  /// |median of the others / launch - 1|. Nothing for a single launch, or where it is not defined.
  std::optional<double> noise{};

  /// (high - low) / measured: how far launches of this point differ from each other.
  double spread() const;
};

struct Comparison {
  std::vector<PointError> errors;
  size_t predicted_points = 0;  // after medians
  size_t measured_points = 0;
  size_t predicted_alone = 0;  // of these, without a partner
  size_t measured_alone = 0;
  /// Columns in which predicted points without a partner differ from the nearest measured one, and
  /// how many do.
  std::map<std::string_view, size_t> apart;
};

std::vector<std::string_view> join_columns();
/// The place of a column in join_columns(), and so in PointError::key.
size_t join_column(std::string_view name);
/// The counters of a comma-separated list, all that can be compared for an empty one. Throws
/// UsageError that begins with `place` for one that cannot.
std::vector<std::string> counters_named(const std::string& list, const std::string& place);
/// Compares `counters` where both sides have a value; throws UsageError with file and line for a
/// missing column or a cell that is no number.
Comparison compare_tables(const CsvTable& predicted, const CsvTable& measured,
                          const std::vector<std::string>& counters);

}  // namespace sawtooth::experiments
