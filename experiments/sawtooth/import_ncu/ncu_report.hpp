// What Nsight Compute wrote with `ncu --csv --page raw --print-units base`: lines of its own and of
// the program, then a header, a row of units, and a row a launch with a column a metric.
// It becomes the table of sawtooth record, and what that has no column for a long table: process,
// launch_index, kernel_name, grid, block, metric, value, unit.
// Source: Nsight Compute CLI documentation, "CSV output"; reports of ncu 2025.3.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/inject/pass_file.hpp"

namespace sawtooth::experiments {

struct NcuValue {
  std::string text;  // as written, without thousands separators
  std::string unit;
};

struct NcuLaunch {
  inject::LaunchRecord launch;  // its values stay empty
  size_t process = 0;           // by order of appearance
  std::map<std::string, NcuValue> metrics;
};

/// Throws UsageError that names file and line for what is no such report.
std::vector<NcuLaunch> parse_ncu_report(std::string_view text, const std::string& path);

/// Metric -> column of results.csv, of all chips of cupti/metric_table.hpp together: a name means
/// the same on every chip that has it.
std::map<std::string, std::string> known_ncu_metrics();

/// "metric = column" lines of an INI file over the known ones. Throws UsageError for a column that
/// is no counter of results.csv and not profiled_time_us.
void add_metric_map(std::map<std::string, std::string>& columns, const std::string& path);

struct NcuTables {
  std::string rows;
  std::string long_table;  // empty when every metric has a column
};

/// Throws UsageError for a counter in a unit such as Ksector, which has lost digits.
NcuTables ncu_tables(const std::vector<NcuLaunch>& launches,
                     const std::map<std::string, std::string>& columns,
                     const std::string& experiment, const std::string& path);

}  // namespace sawtooth::experiments
