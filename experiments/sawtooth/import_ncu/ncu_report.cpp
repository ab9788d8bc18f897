#include "experiments/sawtooth/import_ncu/ncu_report.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>

#include "cupti/metric_table.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

/// The columns that say which launch a row is; all others are metrics.
constexpr std::string_view launch_keys[] = {
    "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
    "Stream", "Block Size", "Grid Size",    "Device",    "CC"};

struct Table {
  CsvTable csv;
  int lines_before = 0;  // its header, in the file
};

/// The table alone: nothing before its header, no line of ncu's own.
Table table_of(std::string_view text, const std::string& path) {
  Table table;
  std::string rows;
  bool inside = false;
  int line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    begin = end + 1;
    if (!inside && (one.starts_with("\"ID\",") || one.starts_with("ID,"))) {
      inside = true;
      table.lines_before = line;
    }
    if (!inside) continue;
    if (!one.starts_with("==")) rows.append(one);
    rows += '\n';
  }
  if (!inside)
    throw UsageError(path +
                     ": has no line that begins with \"ID\"; write the report with `ncu --csv "
                     "--page raw --print-units base`");
  table.csv = parse_csv(rows, path);
  return table;
}

std::string without_separators(std::string text) {
  std::erase(text, ',');
  return text;
}

/// "(16, 8, 1)" -> "16x8x1".
std::string extent_of(const std::string& cell) {
  std::string extent;
  for (const char c : cell) {
    if (c == ',')
      extent += 'x';
    else if (c >= '0' && c <= '9')
      extent += c;
  }
  return extent;
}

int64_t whole_or_unknown(const std::string& cell) {
  const std::string text = without_separators(cell);
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

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

std::vector<NcuLaunch> parse_ncu_report(std::string_view text, const std::string& path) {
  const Table table = table_of(text, path);
  const CsvTable& csv = table.csv;
  const auto column = [&](std::string_view name) {
    const auto found = csv.column(name);
    if (!found) throw UsageError(path + ": column '" + std::string(name) + "' is missing");
    return *found;
  };
  const auto optional_cell = [&](const CsvRow& row, std::string_view name) {
    const auto found = csv.column(name);
    return found ? row[*found] : std::string();
  };
  const size_t id = column("ID"), name = column("Kernel Name"), grid = column("Grid Size"),
               block = column("Block Size");
  CsvRow units(csv.header.size());
  std::vector<std::string> processes;
  std::vector<NcuLaunch> launches;
  for (size_t r = 0; r < csv.rows.size(); ++r) {
    const CsvRow& row = csv.rows[r];
    if (row[id].empty()) {
      units = row;
      continue;
    }
    NcuLaunch one;
    one.launch.index = whole_or_unknown(row[id]);
    if (one.launch.index < 0)
      throw UsageError(path + ":" + std::to_string(csv.line_of_row[r] + table.lines_before) +
                       ": ID '" + row[id] + "' is no number");
    one.launch.name = row[name];
    one.launch.grid = extent_of(row[grid]);
    one.launch.block = extent_of(row[block]);
    one.launch.stream = whole_or_unknown(optional_cell(row, "Stream"));
    one.launch.context = whole_or_unknown(optional_cell(row, "Context"));
    one.launch.device = whole_or_unknown(optional_cell(row, "Device"));
    const std::string process = optional_cell(row, "Process ID");
    const auto known = std::find(processes.begin(), processes.end(), process);
    one.process = static_cast<size_t>(known - processes.begin());
    if (known == processes.end()) processes.push_back(process);
    for (size_t c = 0; c < row.size(); ++c) {
      const bool is_key = std::find(std::begin(launch_keys), std::end(launch_keys),
                                    csv.header[c]) != std::end(launch_keys);
      if (!is_key) one.metrics[csv.header[c]] = {without_separators(row[c]), units[c]};
    }
    launches.push_back(std::move(one));
  }
  return launches;
}

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

int run_import_ncu(const Command& command, const Arguments& arguments) {
  const PlainOptions options = parse_plain_options(command.name, arguments, command.flags, 1);
  if (options.operands.empty() || !options.has("csv"))
    throw UsageError("usage: sawtooth import-ncu REPORT.csv [--map FILE] --csv OUT");
  const std::string& report = options.operands.front();
  const std::string out = options.value_or("csv", "");
  std::map<std::string, std::string> columns = known_ncu_metrics();
  if (options.has("map")) add_metric_map(columns, options.value_or("map", ""));
  const NcuTables tables = ncu_tables(parse_ncu_report(read_text_file(report), report), columns,
                                      stem_of(out == "-" ? report : out), report);
  write_output(out, tables.rows);
  if (out == "-" && !tables.long_table.empty())
    std::cerr << "note: other metrics are left out; --csv FILE puts them into FILE.metrics.csv\n";
  else if (!tables.long_table.empty())
    write_output(out + ".metrics.csv", tables.long_table);
  return exit_fine;
}

}  // namespace sawtooth::experiments
