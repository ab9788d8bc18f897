#include "experiments/sawtooth/import_ncu/ncu_tables.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cupti/metric_table.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view time_column = "profiled_time_us";

struct TimeUnit {
  std::string_view name;
  double us;
};
// Both spellings of ncu, old and new.
constexpr TimeUnit time_units[] = {{"ns", 1e-3}, {"nsecond", 1e-3}, {"us", 1},  {"usecond", 1},
                                   {"ms", 1e3},  {"msecond", 1e3},  {"s", 1e6}, {"second", 1e6}};

bool is_counter(std::string_view column) {
  return std::any_of(sim::counter_columns.begin(), sim::counter_columns.end(),
                     [&](const sim::CounterColumn& one) { return one.name == column; });
}

std::string in_us(const NcuValue& value, const std::string& place) {
  for (const TimeUnit& unit : time_units) {
    if (unit.name == value.unit)
      return fixed(std::strtod(value.text.c_str(), nullptr) * unit.us, 2);
  }
  throw UsageError(place + ": unit '" + value.unit + "' is no time; allowed: ns, us, ms, s");
}

std::string as_count(const NcuValue& value, const std::string& place) {
  const bool whole =
      !value.text.empty() && value.text.find_first_not_of("0123456789") == std::string::npos;
  if (whole && (value.unit.empty() || value.unit == "sector")) return value.text;
  if (value.text.empty() || value.text == "n/a") return "";
  throw UsageError(place + ": '" + value.text + " " + value.unit +
                   "' is no number of sectors; write the report with --print-units base");
}

}  // namespace

std::map<std::string, std::string> known_ncu_metrics() {
  std::map<std::string, std::string> columns{{"launch__registers_per_thread", "registers"},
                                             {"launch__shared_mem_per_block", "shared_bytes"}};
  for (const cupti::ChipInfo& chip : cupti::chips_with_table()) {
    for (const auto& [metric, column] : columns_of_metrics(std::string(chip.name))) {
      if (is_counter(column)) columns.emplace(metric, column);
      if (column == "duration_ns") columns.emplace(metric, time_column);
    }
  }
  return columns;
}

void add_metric_map(std::map<std::string, std::string>& columns, const std::string& path) {
  const IniFile ini = read_ini(path);
  for (const IniSection& section : ini.sections) {
    for (const IniEntry& entry : section.entries) {
      if (!is_counter(entry.value) && entry.value != time_column)
        throw UsageError(path + ":" + std::to_string(entry.line) + ": '" + entry.value +
                         "' is no counter of results.csv; allowed: profiled_time_us and those of "
                         "`sawtooth --csv-header` that end in _sectors");
      columns[entry.key] = entry.value;
    }
  }
}

NcuTables ncu_tables(const std::vector<NcuLaunch>& launches,
                     const std::map<std::string, std::string>& columns,
                     const std::string& experiment, const std::string& path) {
  LaunchTable table({});
  NcuTables tables{table.header(), ""};
  for (const NcuLaunch& one : launches) {
    CsvRow row = table.empty_row();
    table.set(row, "experiment", experiment);
    table.set(row, "source", "measured");
    table.describe(row, one.launch, one.process);
    for (const auto& [metric, value] : one.metrics) {
      const std::string place =
          path + ": launch " + std::to_string(one.launch.index) + ", " + metric;
      const auto known = columns.find(metric);
      if (known == columns.end()) {
        if (value.text.empty()) continue;
        tables.long_table += csv_line(
            {std::to_string(one.process), std::to_string(one.launch.index), one.launch.name,
             one.launch.grid, one.launch.block, metric, value.text, value.unit});
      } else if (known->second == time_column) {
        table.set(row, time_column, in_us(value, place));
      } else if (is_counter(known->second)) {
        table.set(row, known->second, as_count(value, place));
      } else {
        table.set(row, known->second, value.text);
      }
    }
    table.set(row, "status", "ok");
    tables.rows += csv_line(row);
  }
  if (!tables.long_table.empty())
    tables.long_table = csv_line({"process", "launch_index", "kernel_name", "grid", "block",
                                  "metric", "value", "unit"}) +
                        tables.long_table;
  return tables;
}

}  // namespace sawtooth::experiments
