// The table of sawtooth record: the columns of results.csv, then what names a launch, then counters
// that results.csv has no column for. sawtooth import-ncu writes the same.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/record/merge_passes.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

inline constexpr std::array<std::string_view, 10> launch_columns{
    "kernel_name", "grid",   "block",   "shared_bytes", "registers",
    "stream",      "device", "context", "process",      "launch_index"};

/// Column of every metric of the chip's table, "lts__t_sectors_...sum" -> "l2_read_sectors"; what
/// is not in it has its own name as a column. duration_ns goes to profiled_time_us.
std::map<std::string, std::string> columns_of_metrics(const std::string& chip);

/// How rows are made, whatever they come from.
class LaunchTable {
 public:
  /// `extra` are the columns behind the launch's own.
  explicit LaunchTable(const std::vector<std::string>& extra);

  std::string header() const { return csv_line(header_); }
  CsvRow empty_row() const { return CsvRow(header_.size()); }
  /// Writes a cell of any part of the row, if there is such a column.
  void set(CsvRow& row, std::string_view column, const std::string& text) const {
    if (const auto place = column_of(header_, column)) row[*place] = text;
  }
  /// A launch's own cells; unknown ones stay empty. `repetition` counts the earlier rows of the
  /// same process, name, grid and block.
  void describe(CsvRow& row, const inject::LaunchRecord& launch, size_t process);

 private:
  CsvRow header_;
  std::map<std::string, int64_t> seen_;  // launches of the same name and shape
};

struct RecordLabels {
  std::string experiment;
  std::string gpu;
  std::string state;  // cold after a flush, else as-is
};

/// `metrics` in the order of the plan, witnesses first.
std::string record_table(const std::vector<MergedLaunch>& launches,
                         const std::vector<std::string>& metrics, const std::string& chip,
                         const RecordLabels& labels);

}  // namespace sawtooth::experiments
