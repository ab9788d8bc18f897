// The points of one table of a comparison: rows that agree in all that a point is joined by are
// launches (or predictions) of one point.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

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

}  // namespace sawtooth::experiments
