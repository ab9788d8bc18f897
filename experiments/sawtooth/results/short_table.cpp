#include "experiments/sawtooth/results/short_table.hpp"

#include <algorithm>
#include <set>

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view gap = "  ";

struct Column {
  std::string title;
  std::vector<std::string> cells;
  bool is_number = true;
};

bool is_quantity(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_empty(const Column& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const std::string& cell) { return cell.empty(); });
}

// 128K of 131072.
std::string tokens(const std::string& text) {
  constexpr int64_t kibi = 1024;
  const int64_t count = parse_count(text);
  return count % kibi == 0 && count > 0 ? std::to_string(count / kibi) + "K" : text;
}

// Key columns that differ; of those that differ alike (seq_q and seq_kv of squares) the first.
std::vector<Column> varying(const std::vector<CsvRow>& rows) {
  static const std::set<std::string_view> elsewhere = {"experiment", "source", "timing", "l2",
                                                       "version",    "costs",  "seed",   "kernel",
                                                       "judged",     "inputs"};
  std::vector<Column> columns;
  std::set<std::vector<std::string>> seen;
  for (size_t c = 0; c < key_column_count; ++c) {
    const std::string_view name = result_columns[c].name;
    if (elsewhere.contains(name)) continue;
    Column column{std::string(name), {}, true};
    for (const CsvRow& row : rows) {
      const bool is_length = name.starts_with("seq_") && !row[c].empty();
      column.cells.push_back(is_length ? tokens(row[c]) : row[c]);
      column.is_number = column.is_number && is_quantity(row[c]);
    }
    const std::set<std::string> different(column.cells.begin(), column.cells.end());
    if (different.size() > 1 && seen.insert(column.cells).second) {
      columns.push_back(std::move(column));
    }
  }
  return columns;
}

Column dram_reads(const std::vector<CsvRow>& rows) {
  constexpr size_t reads = result_column("dram_read_sectors");
  constexpr size_t cold = result_column("cold_read_sectors");
  const bool relative = std::all_of(rows.begin(), rows.end(), [](const CsvRow& row) {
    return is_quantity(row[cold]) && row[cold] != "0";
  });
  Column column{relative ? "DRAM reads / compulsory" : "DRAM reads (sectors)", {}, true};
  for (const CsvRow& row : rows) {
    column.cells.push_back(relative && !row[reads].empty()
                               ? fixed(std::stod(row[reads]) / std::stod(row[cold]), 2)
                               : row[reads]);
  }
  return column;
}

Column plain(const std::vector<CsvRow>& rows, size_t from, std::string title) {
  Column column{std::move(title), {}, true};
  for (const CsvRow& row : rows) column.cells.push_back(row[from]);
  return column;
}

Column model(const std::vector<CsvRow>& rows) {
  Column column{"model", {}, false};
  for (const CsvRow& row : rows) {
    const std::string& timing = row[result_column("timing")];
    const std::string& l2 = row[result_column("l2")];
    column.cells.push_back(timing.empty() ? row[result_column("source")] : timing + ", " + l2);
  }
  return column;
}

}  // namespace

std::string short_table(const std::vector<CsvRow>& rows) {
  std::vector<Column> columns = varying(rows);
  for (Column& column :
       std::vector<Column>{dram_reads(rows), plain(rows, result_column("time_us"), "time (us)"),
                           plain(rows, result_column("tflops"), "TFLOP/s"), model(rows)}) {
    if (!is_empty(column)) columns.push_back(std::move(column));
  }
  std::vector<std::string> lines(rows.size() + 1);
  for (const Column& column : columns) {
    size_t width = column.title.size();
    for (const std::string& cell : column.cells) width = std::max(width, cell.size());
    for (size_t r = 0; r < lines.size(); ++r) {
      const std::string& cell = r == 0 ? column.title : column.cells[r - 1];
      const std::string blanks(width - cell.size(), ' ');
      if (!lines[r].empty() || &column != &columns.front()) lines[r] += gap;
      lines[r] += column.is_number ? blanks + cell : cell + blanks;
    }
  }
  std::string text;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += (text.empty() ? bold(line, Output::standard) : line) + "\n";
  }
  return text;
}

}  // namespace sawtooth::experiments
