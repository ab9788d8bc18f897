// What Nsight Compute wrote with `ncu --csv`: lines of its own and of the program, then a header
// and, of `--page raw`, a row of units and a row a launch with a column a metric, or of `--page
// details` a row a metric, with columns of rules or without. Units become base units. It becomes
// the table of sawtooth record, and what that has no column for a long table: process,
// launch_index, kernel_name, grid, block, metric, value, unit.
// Source: Nsight Compute CLI documentation, "CSV output"; reports of ncu 2025.3.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/inject/pass_file.hpp"
#include "experiments/sawtooth/import_ncu/ncu_text.hpp"

namespace sawtooth::experiments {

struct NcuLaunch {
  inject::LaunchRecord launch;  // its values stay empty
  size_t process = 0;           // by order of appearance
  std::string compute;          // capability, such as 9.0
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
  std::string long_table;            // empty when every metric has a column
  std::set<std::string> complaints;  // of rows whose status is not ok
};

/// Rows are `ok`, `no-counters`, or `impossible`: more misses than reads, hit rates over 100 %.
/// Throws UsageError for a counter that is neither sectors nor bytes.
NcuTables ncu_tables(const std::vector<NcuLaunch>& launches,
                     const std::map<std::string, std::string>& columns,
                     const std::string& experiment, const std::string& path);

}  // namespace sawtooth::experiments
