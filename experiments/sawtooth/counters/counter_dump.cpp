#include "experiments/sawtooth/counters/counter_dump.hpp"

#include <cmath>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

CsvRow row_of(const CsvRow& key_cells, const std::string& repetition, const std::string& pass,
              const std::string& metric, const std::string& value, const std::string& unit,
              std::string_view status) {
  CsvRow row{run_id(key_cells)};
  row.insert(row.end(), key_cells.begin(), key_cells.end());
  row.insert(row.end(), {repetition, pass, metric, value, unit, std::string(status)});
  return row;
}

}  // namespace

std::string dump_header() {
  CsvRow header{"run_id"};
  for (size_t i = 0; i < key_column_count; ++i) header.emplace_back(result_columns[i].name);
  header.insert(header.end(), {"repetition", "replay_pass", "metric", "value", "unit", "status"});
  return csv_line(header);
}

std::vector<CsvRow> dump_rows(const CsvRow& key_cells, int64_t repetition,
                              const cupti::RangeReading& range, const MetricUnits& units) {
  std::vector<CsvRow> rows;
  for (const cupti::MetricValue& value : range.values) {
    const auto unit = units.find(value.metric);
    const bool finite = std::isfinite(value.value);  // 0 / 0 for a ratio of nothing
    rows.push_back(row_of(key_cells, std::to_string(repetition),
                          std::to_string(value.replay_pass + 1), value.metric, counted(value.value),
                          unit == units.end() ? "" : unit->second, finite ? "ok" : "no-value"));
  }
  return rows;
}

std::vector<CsvRow> missing_rows(const CsvRow& key_cells, const std::vector<std::string>& metrics,
                                 std::string_view status) {
  std::vector<CsvRow> rows;
  for (const std::string& metric : metrics)
    rows.push_back(row_of(key_cells, "", "", metric, "", "", status));
  return rows;
}

}  // namespace sawtooth::experiments
