// Rows of results.csv: the cells of a point, and what came out of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// The counters in the order of their columns, empty where not modelled.
CsvRow counter_cells(const sim::Counters& counters);

/// Cells experiment to seed of a point.
CsvRow key_cells(const Point& point, std::string_view experiment, std::string_view source);

/// Those of a measurement, which has no model; its kernel is whatever will run.
CsvRow measured_key_cells(const Point& point, std::string_view experiment);

/// What tells a row from others: its key cells, where contents stand for the paths of files.
/// `columns`: of these, from the first one on; more than the key where points have repetitions.
std::string row_key(const CsvRow& cells, size_t columns = key_column_count);

/// Twelve hexadecimal digits that stand for the resolved point: a hash of its key cells without the
/// names of the row and its kernel (columns.hpp says of which columns), of the contents of its
/// files and, of a prediction, of sim::model_version. No path is part of it.
std::string run_id(const CsvRow& key_cells);

/// A point that was not run: no counters, `status` and in words why.
CsvRow row_without_result(const CsvRow& key_cells, std::string_view status,
                          const std::string& message);
/// The status of a row that a combination of keys forbids, and of one that broke off.
inline constexpr std::string_view status_refused = "refused";
inline constexpr std::string_view status_failed = "failed";

CsvRow predicted_row(const CsvRow& key_cells, const sim::Counters& counters);
/// With all that a prediction says, intervals included.
CsvRow predicted_row(const CsvRow& key_cells, const RowSource& source);
/// Fills the interval of every column that the point's judgement has a width of, around its
/// predicted value; of counters in whole sectors, outwards. One that is not predicted, or is 0 in a
/// launch, has none. Of a point that spans models they go from the least to the most of these.
/// Intervals end at what is compulsory and at what SMs read.
void add_intervals(const RowSource& source, CsvRow& row);

std::string result_header();

/// Points of a sweep that have no result, for the end of a command: a line a reason, with its first
/// point, of the first hundred reasons.
class Failures {
 public:
  /// A row of results.csv whose status is not ok.
  void add(const CsvRow& row);
  bool empty() const { return reasons_.empty(); }
  /// To standard error.
  void print() const;

 private:
  struct Reason {
    std::string message;
    std::string first_point;
    int64_t points = 0;
  };
  std::vector<Reason> reasons_;  // the first ones
  int64_t others_ = 0;           // points with other reasons
};

}  // namespace sawtooth::experiments
