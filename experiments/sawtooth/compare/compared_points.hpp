// The points of one table of a comparison, repetitions gathered: some 200 bytes a row in memory,
// however long its texts are.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "experiments/sawtooth/compare/point_keys.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// A version that begins with this is a baseline, and its name alone is its group.
inline constexpr std::string_view baseline_prefix = "baseline: ";

/// Measured rows are repetitions of each other where their points agree; predicted ones where their
/// models, and ways in which they were made, agree too.
enum class Side : uint8_t { predicted, measured };

/// Bits of columns that points are joined by, and of `system` above them.
using ColumnBits = uint64_t;
inline constexpr size_t system_bit = join_column_count;
static_assert(system_bit < 64);

/// Rows that agree in all that a point is joined by. Numbers are those of words.
struct ComparedPoint {
  uint32_t key = 0;  // of PointKeys
  uint32_t group = 0;
  uint32_t system = 0;
  uint32_t source = 0;
  uint32_t seed = 0;
  uint32_t first_row = 0;
  uint32_t last_row = 0;
  ColumnBits open = 0;  // whose empty cells agree with every other
};

class ComparedPoints {
 public:
  /// `counters` are columns. Throws UsageError with file and line for a missing column or a cell
  /// that is no number.
  ComparedPoints(CsvFile&& table, std::vector<std::string> counters, Side side,
                 std::shared_ptr<PointKeys> keys);
  ComparedPoints(const CsvTable& table, std::vector<std::string> counters, Side side,
                 std::shared_ptr<PointKeys> keys);

  const std::vector<ComparedPoint>& points() const { return points_; }
  const std::vector<std::string>& counters() const { return counters_; }
  const std::shared_ptr<PointKeys>& keys() const { return keys_; }
  /// What the rows of a point have in column `counter` of counters(), as many as have something.
  std::vector<double> values(const ComparedPoint& point, size_t counter) const;

 private:
  class Reader;
  void add_row(ComparedPoint& point, uint32_t row);

  std::vector<std::string> counters_;
  std::shared_ptr<PointKeys> keys_;
  std::vector<ComparedPoint> points_;
  std::deque<double> values_;       // of counters of rows; not a number where a cell is empty
  std::vector<uint32_t> next_row_;  // of the same point
};

}  // namespace sawtooth::experiments
