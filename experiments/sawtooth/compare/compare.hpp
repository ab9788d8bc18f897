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

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

// The points of one table of a comparison: rows that agree in all that a point is joined by are
// launches (or predictions) of one point.

constexpr bool is_join_column(const ResultColumn& column) {
  return joins(column.kind) || column.kind == ColumnKind::kernel;
}
inline constexpr size_t join_column_count =
    static_cast<size_t>(std::ranges::count_if(result_columns, is_join_column));

/// Gpu, kernel, pass, all of problem and schedule, and state, in the order of results.csv.
constexpr std::array<std::string_view, join_column_count> join_columns() {
  std::array<std::string_view, join_column_count> names;
  size_t end = 0;
  for (const ResultColumn& column : result_columns)
    if (is_join_column(column)) names[end++] = column.name;
  return names;
}
/// The place of a column in join_columns().
constexpr size_t join_column(std::string_view name) {
  const auto columns = join_columns();
  return static_cast<size_t>(std::ranges::find(columns, name) - columns.begin());
}
/// Whether a column is of the schedule; the others are what two schedules of one problem share.
constexpr bool is_schedule_column(size_t place) {
  return (place >= join_column("tile_q") && place <= join_column("lse")) ||
         place == join_column("dq") || place == join_column("pack_gqa") ||
         place == join_column("sequence_order") || place == join_column("cascade");
}

/// The same text for keys, cells of join_columns(), that differ in their schedules alone.
std::string problem_of(CsvRow key);

/// "gb10, batch 1, heads 8, seq 4096 x 4096, head dim 64, mask causal, static, linear, ascending".
std::string name_of(const CsvRow& key);

/// Bits of join_columns(), and of `system` above them.
using ColumnBits = uint64_t;
inline constexpr size_t system_place = join_column_count;
static_assert(system_place < 64);

/// Measured rows are launches of one point where their points agree; predicted ones where their
/// models, and ways in which they were made, agree too.
enum class Side : uint8_t { predicted, measured };

struct ComparedPoint {
  std::vector<size_t> rows;  // of the table
  std::string model{};       // of a prediction: "lockstep, lru, 30 MiB"
  std::string group{};       // the same, and how it was made: "lockstep, lru, sawtooth 0.1.0"
  ColumnBits open = 0;       // columns whose empty cells agree with every other
};

class PointTable {
 public:
  /// `table` has to outlive this. Throws UsageError for a missing column.
  PointTable(const CsvTable& table, Side side);

  const std::vector<ComparedPoint>& points() const { return points_; }
  /// The cell of a point in join_columns(), or at system_place; a kernel's is its family, the name
  /// up to its first '-'.
  std::string_view cell(const ComparedPoint& point, size_t place) const;
  const std::string& path() const { return table_.path; }
  const std::string& source(const ComparedPoint& point) const;
  /// What its rows have in a column, as many as have something. Throws UsageError with file and
  /// line for a cell that is no number.
  std::vector<double> values(const ComparedPoint& point, std::string_view column) const;
  /// "predicted.csv:7", where the point's first row stands.
  std::string place_of(const ComparedPoint& point) const;

 private:
  size_t required(std::string_view name) const;
  void gather(Side side);
  ColumnBits open_columns(const ComparedPoint& point) const;
  const std::string& text(const ComparedPoint& point, std::optional<size_t> column) const;

  const CsvTable& table_;
  size_t source_;
  std::vector<std::optional<size_t>> columns_;  // of join_columns(), then of system
  std::map<std::string_view, size_t> by_name_;
  std::vector<ComparedPoint> points_;
};

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
  double low = 0, high = 0;
};

/// One counter at one joined point.
struct PointError {
  const JoinedPoint* point = nullptr;
  std::string_view counter;
  double predicted = 0, measured = 0;
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
