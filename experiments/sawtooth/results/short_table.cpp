#include <algorithm>
#include <map>
#include <set>

#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view gap = "  ";
constexpr double low_share = 0.1, middle = 0.5, high_share = 0.9;

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
                                                       "version",    "costs",  "seed",   "l2_bytes",
                                                       "judged",     "inputs"};
  std::vector<Column> columns;
  std::set<std::vector<std::string>> seen;
  for (size_t c = 0; c < key_column_count; ++c) {
    const std::string_view name = result_columns[c].name;
    if (elsewhere.contains(name) || result_columns[c].kind == ColumnKind::parameter) continue;
    Column column{std::string(name), {}, true};
    for (const CsvRow& row : rows) {
      const bool is_length = name.starts_with("seq_") && !row[c].empty();
      column.cells.push_back(is_length ? tokens(row[c]) : row[c]);
      column.is_number = column.is_number && is_quantity(row[c]);
    }
    const std::set<std::string> different(column.cells.begin(), column.cells.end());
    if (different.size() > 1 && seen.insert(column.cells).second)
      columns.push_back(std::move(column));
  }
  return columns;
}

// "all: kernel hopper, tile-q 128 ...": what the columns leave out of the schedule, which a plain
// call has from the kernel and GPU.
std::string shared_schedule(const std::vector<CsvRow>& rows) {
  constexpr size_t system = result_column("system"), kernel = result_column("kernel");
  std::string text;
  for (const size_t at :
       {kernel, result_column("tile_q"), result_column("tile_kv"), result_column("section"),
        result_column("q_order"), result_column("launch"), result_column("workers"),
        result_column("scan")}) {
    std::string cell = rows.front()[at];
    if (!std::ranges::all_of(rows, [&](auto& row) { return row[at] == cell; })) continue;
    if (at == kernel && cell.empty() && rows.front()[system].empty()) cell = usual_family;
    if (cell.empty()) continue;
    std::string key(result_columns[at].name);
    std::ranges::replace(key, '_', '-');
    text += (text.empty() ? "all: " : ", ") + key + " " + cell;
  }
  return text.empty() ? "" : text + "\n";
}

// With where they lie: 90 %, or the range over models where none was judged.
Column dram_reads(const std::vector<CsvRow>& rows) {
  constexpr size_t reads = result_column("dram_read_sectors");
  constexpr size_t cold = result_column("cold_read_sectors");
  const bool relative = std::all_of(rows.begin(), rows.end(), [](const CsvRow& row) {
    return is_quantity(row[cold]) && row[cold] != "0";
  });
  Column column{relative ? "DRAM reads / compulsory" : "DRAM reads (sectors)", {}, true};
  for (const CsvRow& row : rows) {
    const auto text_of = [&](size_t at) {
      return relative && !row[at].empty() ? fixed(std::stod(row[at]) / std::stod(row[cold]), 2)
                                          : row[at];
    };
    const std::string low = text_of(result_column("dram_read_sectors_low"));
    const std::string range =
        " (" + low + " to " + text_of(result_column("dram_read_sectors_high")) + ")";
    column.cells.push_back(text_of(reads) + (low.empty() ? "" : range));
  }
  return column;
}

Column plain(const std::vector<CsvRow>& rows, size_t from, std::string title,
             bool is_number = true) {
  Column column{std::move(title), {}, is_number};
  for (const CsvRow& row : rows) column.cells.push_back(row[from]);
  return column;
}

// A measurement shows what it is a median of; `repetition` counts them there.
Column model(const std::vector<CsvRow>& rows) {
  Column column{"model", {}, false};
  for (const CsvRow& row : rows) {
    const std::string& timing = row[result_column("timing")];
    const std::string& repetitions = row[result_column("repetition")];
    std::string text = row[result_column("source")];
    if (!timing.empty()) text = timing + ", " + row[result_column("l2")];
    if (repetitions != "1") text += ", median of " + repetitions;
    column.cells.push_back(std::move(text));
  }
  return column;
}

using Repetitions = std::vector<CsvRow>;  // of one point

std::vector<Repetitions> points_of(const std::vector<CsvRow>& rows) {
  std::vector<Repetitions> points;
  std::map<CsvRow, size_t> point_of;
  for (const CsvRow& row : rows) {
    const CsvRow key(row.begin(), row.begin() + key_column_count);
    const auto [known, is_new] = point_of.try_emplace(key, points.size());
    if (is_new) points.emplace_back();
    points[known->second].push_back(row);
  }
  return points;
}

std::string quantile_text(const Repetitions& repetitions, size_t column, double share) {
  std::vector<double> numbers;
  int digits = 0;
  for (const CsvRow& row : repetitions) {
    if (!is_quantity(row[column])) continue;
    numbers.push_back(std::stod(row[column]));
    const size_t point = row[column].find('.');
    if (point != std::string::npos) digits = static_cast<int>(row[column].size() - point - 1);
  }
  return numbers.empty() ? std::string() : fixed(quantile_of(std::move(numbers), share), digits);
}

// One row: medians of the repetitions, and in `repetition` how many there are.
CsvRow medians(const Repetitions& repetitions) {
  CsvRow row = repetitions.front();
  for (const size_t column :
       {result_column("dram_read_sectors"), result_column("time_us"), result_column("tflops")})
    row[column] = quantile_text(repetitions, column, middle);
  row[result_column("repetition")] = std::to_string(repetitions.size());
  return row;
}

Column time_range(const std::vector<Repetitions>& points) {
  Column column{"10 to 90 % (us)", {}, true};
  constexpr size_t time = result_column("time_us");
  for (const Repetitions& point : points) {
    const std::string low = quantile_text(point, time, low_share);
    const bool has_range = point.size() > 1 && !low.empty();
    column.cells.push_back(has_range ? low + " to " + quantile_text(point, time, high_share)
                                     : std::string());
  }
  return column;
}

}  // namespace

bool for_people(const Settings& outputs) {
  return !outputs.contains("csv") && is_terminal(Output::standard);
}

std::string csv_path(const Settings& outputs) {
  return for_people(outputs) ? "/dev/null" : value_or(outputs, "csv", "-");
}

std::string short_table(const std::vector<CsvRow>& all_rows,
                        const std::vector<std::string>& labels) {
  const std::vector<Repetitions> points = points_of(all_rows);
  std::vector<CsvRow> rows;
  for (const Repetitions& point : points) rows.push_back(medians(point));
  std::vector<Column> columns = varying(rows);
  if (!labels.empty()) columns.insert(columns.begin(), Column{"", labels, false});
  for (Column& column :
       std::vector<Column>{dram_reads(rows), plain(rows, result_column("time_us"), "time (us)"),
                           time_range(points), plain(rows, result_column("tflops"), "TFLOP/s"),
                           model(rows), plain(rows, result_column("judged"), "judged", false)})
    if (!is_empty(column)) columns.push_back(std::move(column));
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
    line = one_line(line);
    text += (text.empty() ? bold(line, Output::standard) : line) + "\n";
  }
  return text + (rows.empty() ? "" : shared_schedule(rows));
}

}  // namespace sawtooth::experiments
