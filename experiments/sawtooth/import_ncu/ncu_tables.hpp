// An Nsight Compute report as the table of sawtooth record, and what that has no column for as a
// long table: process, launch_index, kernel_name, grid, block, metric, value, unit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"

namespace sawtooth::experiments {

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
