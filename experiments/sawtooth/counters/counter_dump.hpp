// Any metrics in long format: one value a row, with the point that it belongs to.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/range_profiler.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// run_id, the key columns of results.csv (experiment to seed), repetition, replay_pass (from 1),
/// metric, value, unit, status.
std::string dump_header();

/// Unit of each metric by its full name; empty where CUPTI names none.
using MetricUnits = std::map<std::string, std::string, std::less<>>;

/// A row a value of `range`. Counts are printed as integers, ratios with 9 digits.
std::vector<CsvRow> dump_rows(const CsvRow& key_cells, int64_t repetition,
                              const cupti::RangeReading& range, const MetricUnits& units);

/// A row a metric with an empty value, for counters that could not be read.
std::vector<CsvRow> missing_rows(const CsvRow& key_cells, const std::vector<std::string>& metrics,
                                 std::string_view status);

}  // namespace sawtooth::experiments
