#include "experiments/sawtooth/import_ncu/ncu_report.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "cupti/metric_table.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/programs.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

/// The columns that say which launch a row is; all others are metrics.
constexpr std::string_view launch_keys[] = {
    "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
    "Stream", "Block Size", "Grid Size",    "Device",    "CC"};

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

int64_t whole_or_unknown(std::string text) {
  std::erase(text, ',');
  return number_of<int64_t>(text).value_or(-1);
}

constexpr std::string_view time_column = "profiled_time_us";
constexpr const char* dram_reads = "dram_read_sectors";

/// Names beside those of the tables of chips: bytes, labels of the details page.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"dram__bytes_read.sum", dram_reads},
    {"dram__bytes_op_read.sum", dram_reads},
    {"dram__bytes_write.sum", "dram_write_sectors"},
    {"dram__bytes_op_write.sum", "dram_write_sectors"},
    {"launch__registers_per_thread", "registers"},
    {"Registers Per Thread", "registers"},
    {"launch__shared_mem_per_block", "shared_bytes"},
    {"launch__shared_mem_per_block_dynamic", "shared_bytes"},
    {"Dynamic Shared Memory Per Block", "shared_bytes"},
    {"Duration", time_column}};

// The memory of GB10 is the system's: CUPTI counts no dram__ sectors there, and reads are fills.
constexpr std::string_view unified_compute = "12.1",
                           unified_fills = "lts__d_sectors_fill_sysmem.sum";

bool is_other_name(std::string_view metric) {
  return std::ranges::any_of(other_names, [&](const auto& one) { return one.first == metric; });
}

bool is_counter(std::string_view column) {
  return std::any_of(sim::counter_columns.begin(), sim::counter_columns.end(),
                     [&](const sim::CounterColumn& one) { return one.name == column; });
}

std::string in_column(std::string_view column, const NcuValue& value, const std::string& place) {
  if (value.text.empty() || value.text == "n/a") return "";
  const bool is_time = column == time_column, is_bytes = value.unit == "byte";
  if (!is_time && !is_counter(column)) return value.text;
  constexpr double most = 9e18;  // below 2^63
  const bool fits =
      is_time ? value.unit == "second" : is_bytes || value.unit == "sector" || value.unit.empty();
  if (!value.number || !fits || *value.number > most)
    throw UsageError(place + ": '" + value.text + " " + value.unit + "' is no " +
                     (is_time ? "time" : "number of sectors or bytes"));
  constexpr double us_a_second = 1e6;
  if (is_time) return fixed(*value.number * us_a_second, 2);
  return std::to_string(std::llround(*value.number / (is_bytes ? double(sector_bytes) : 1)));
}

using Cells = std::map<std::string, std::string, std::less<>>;  // column -> text

/// Why no launch can have these values; empty: it can.
std::string impossible(const NcuLaunch& one, const NcuLabel& label, Cells& cells) {
  const std::string why = ": the passes of a replay saw different launches";
  for (const std::string what : {"l2_read", "l2_write", "fabric_read"})
    if (const int64_t all = whole_or_unknown(cells[what + "_sectors"]);
        all >= 0 && whole_or_unknown(cells[what + "_miss_sectors"]) > all)
      return what + "_miss_sectors is over " + what + "_sectors" + why;
  constexpr double most_percent = 100;
  for (const auto& [metric, value] : one.metrics)
    if (value.number.value_or(0) > most_percent && value.unit == "%" &&
        (metric.find("hit_rate") != metric.npos || metric.find("Hit Rate") != metric.npos))
      return metric + " is over 100 %" + why;
  constexpr double kept = 0.995;  // of a number of three digits, as ncu prints large units
  const int64_t least = label.compulsory_read_sectors, reads = whole_or_unknown(cells[dram_reads]);
  if (reads >= 0 && double(reads) < kept * double(least))
    return std::string(dram_reads) + " is under the compulsory " + std::to_string(least) +
           " of its point in a cold L2 (ncu --cache-control all empties it)";
  return "";
}

std::string without_counters(const NcuLaunch& one) {
  std::string names;
  int left = 6;
  for (const auto& [metric, value] : one.metrics)
    if (left-- > 0) names += (names.empty() ? "" : ", ") + metric;
  return "no counter of results.csv, only such as " + names +
         "; `sawtooth counters list --chip CHIP` names those for `ncu --csv --page raw --metrics`";
}

}  // namespace

std::vector<NcuLaunch> parse_ncu_report(std::string_view text, const std::string& path) {
  const NcuTable table = ncu_table(text, path);
  const CsvTable& csv = table.csv;
  const auto column = [&](std::string_view name) {
    const auto found = csv.column(name);
    if (!found) throw UsageError(path + ": column '" + std::string(name) + "' is missing");
    return *found;
  };
  const size_t id = column("ID"), name = column("Kernel Name"), grid = column("Grid Size"),
               block = column("Block Size");
  // The raw page has a column a metric, the details page a row a metric.
  const auto metric_name = csv.column("Metric Name");
  const size_t metric_unit = metric_name ? column("Metric Unit") : 0,
               metric_value = metric_name ? column("Metric Value") : 0;
  CsvRow units(csv.header.size());
  std::map<std::string, size_t> processes;
  std::map<std::pair<size_t, int64_t>, size_t> known_launches;
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
    one.launch.stream = whole_or_unknown(csv.cell(r, "Stream"));
    one.launch.context = whole_or_unknown(csv.cell(r, "Context"));
    one.launch.device = whole_or_unknown(csv.cell(r, "Device"));
    one.compute = csv.cell(r, "CC");
    one.process = processes.emplace(csv.cell(r, "Process ID"), processes.size()).first->second;
    if (!metric_name) {
      for (size_t c = 0; c < row.size(); ++c)
        if (std::ranges::count(launch_keys, csv.header[c]) == 0)
          one.metrics[csv.header[c]] = ncu_value(row[c], units[c], table.decimal_mark);
      launches.push_back(std::move(one));
      continue;
    }
    const auto [place, is_new] =
        known_launches.emplace(std::pair(one.process, one.launch.index), launches.size());
    if (is_new) launches.push_back(std::move(one));
    if (!row[*metric_name].empty())  // else a rule
      launches[place->second].metrics[row[*metric_name]] =
          ncu_value(row[metric_value], row[metric_unit], table.decimal_mark);
  }
  return launches;
}

std::map<std::string, std::string> known_ncu_metrics() {
  std::map<std::string, std::string> columns;
  for (const auto& [metric, column] : other_names) columns.emplace(metric, column);
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
                     const std::string& experiment, const std::string& path,
                     const std::vector<NcuLabel>& labels) {
  LaunchTable table({});
  NcuTables tables{table.header(), "", {}, {}};
  std::map<std::string, size_t> of_shape;  // its first launch
  for (size_t i = 0; i < launches.size(); ++i) {
    const NcuLaunch& one = launches[i];
    const NcuLabel label = labels.empty() ? NcuLabel{} : labels[i];
    CsvRow row = table.empty_row();
    std::ranges::copy(label.key_cells, row.begin());
    if (!label.key_cells.empty()) table.set(row, "run_id", run_id(label.key_cells));
    const auto [first, is_new] =
        of_shape.emplace(one.launch.name + " " + one.launch.grid + " " + one.launch.block, i);
    if (!is_new && tables.notes.empty() &&
        (labels.empty() || labels[first->second].key_cells != label.key_cells))
      tables.notes.push_back(
          "launches such as " + std::to_string(launches[first->second].launch.index) + " and " +
          std::to_string(one.launch.index) + " look alike (kernel, grid, block): " +
          (labels.empty() ? "column repetition counts them"
                          : "order alone gives them their points"));
    table.set(row, "experiment", experiment);
    table.set(row, "source", "measured");
    table.describe(row, one.launch, one.process);
    Cells cells;
    for (const auto& [metric, value] : one.metrics) {
      const std::string place =
          path + ": launch " + std::to_string(one.launch.index) + ", " + metric;
      const auto known = columns.find(metric);
      const bool is_fill = metric == unified_fills && one.compute == unified_compute;
      const std::string_view column = is_fill                  ? dram_reads
                                      : known == columns.end() ? std::string_view()
                                                               : known->second;
      if (!column.empty()) {
        // What a chip counts beats bytes and labels, which are rounded to large units.
        const std::string text = in_column(column, value, place);
        std::string& cell = cells[std::string(column)];
        if (cell.empty() || (!is_other_name(metric) && !text.empty())) cell = text;
      } else if (!value.text.empty()) {
        tables.long_table += csv_line(
            {std::to_string(one.process), std::to_string(one.launch.index), one.launch.name,
             one.launch.grid, one.launch.block, metric, value.text, value.unit});
      }
    }
    bool has_counter = false;
    for (const auto& [column, text] : cells) {
      table.set(row, column, text);
      has_counter = has_counter || (is_counter(column) && !text.empty());
    }
    const std::string why = has_counter ? impossible(one, label, cells) : without_counters(one);
    table.set(row, "status", why.empty() ? "ok" : has_counter ? "impossible" : "no-counters");
    table.set(row, "message", why);
    if (!why.empty()) tables.complaints.insert(why);
    tables.rows += csv_line(row);
  }
  if (const auto none = std::ranges::count(labels, CsvRow(), &NcuLabel::key_cells); none > 0)
    tables.notes.push_back("launches that no section matches have no problem: " +
                           std::to_string(none));
  if (!tables.long_table.empty())
    tables.long_table = csv_line({"process", "launch_index", "kernel_name", "grid", "block",
                                  "metric", "value", "unit"}) +
                        tables.long_table;
  return tables;
}

std::string ncu_text(const std::string& path) {
  if (!path.ends_with(".ncu-rep")) return read_text_file(path);
  open_input(path);
  std::string text;
  const int code = run_program(
      {"ncu", "--import", path, "--page", "raw", "--csv", "--print-units", "base"}, &text);
  if (code != 0)
    throw UsageError(path + ": " +
                     (code < 0 ? "ncu, which reads such a report, is not on the path"
                               : "ncu cannot read it (exit code " + std::to_string(code) + ")") +
                     "; allowed: also what `ncu --import REPORT.ncu-rep --page raw --csv "
                     "--print-units base` prints");
  return text;
}

int run_import_ncu(const Command& command, const Arguments& arguments) {
  const PlainOptions options = parse_plain_options(command.name, arguments, command.flags, 1);
  if (options.operands.empty() || !options.has("csv"))
    throw UsageError("usage: sawtooth import-ncu " + std::string(command.operands));
  const std::string& report = options.operands.front();
  const std::string out = options.value_or("csv", ""), label = options.value_or("label", ""),
                    experiment = stem_of(out == "-" ? report : out);
  std::optional<OutputFile> table, metrics;  // opened before the work
  std::ostream& rows = opened(out, table);
  if (table) metrics.emplace(out + ".metrics.csv");
  std::map<std::string, std::string> columns = known_ncu_metrics();
  if (options.has("map")) add_metric_map(columns, options.value_or("map", ""));
  const std::vector<NcuLaunch> all = parse_ncu_report(ncu_text(report), report);
  std::vector<NcuLaunch> launches;
  for (const size_t i : ncu_launches_of(all, options.value_or("kernel", ""), "--kernel: "))
    launches.push_back(all[i]);
  const NcuTables tables = ncu_tables(
      launches, columns, experiment, report,
      options.has("label") ? ncu_labels(launches, label, experiment) : std::vector<NcuLabel>());
  rows << tables.rows;
  if (table) table->commit();
  if (!tables.long_table.empty() && metrics) {
    metrics->write(tables.long_table);
    metrics->commit();
  } else if (!tables.long_table.empty()) {
    std::cerr << "note: other metrics are left out; --csv FILE puts them into FILE.metrics.csv\n";
  }
  for (const std::string& note : tables.notes) std::cerr << "note: " << one_line(note) << '\n';
  for (const std::string& why : tables.complaints)
    std::cerr << "sawtooth: " << one_line(why) << '\n';
  return tables.complaints.empty() ? exit_fine : exit_check_failed;
}

}  // namespace sawtooth::experiments
