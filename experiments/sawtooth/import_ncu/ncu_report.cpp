#include "experiments/sawtooth/import_ncu/ncu_report.hpp"

#include <algorithm>
#include <charconv>

#include "experiments/sawtooth/support/csv.hpp"
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

}  // namespace sawtooth::experiments
