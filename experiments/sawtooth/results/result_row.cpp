#include "experiments/sawtooth/results/result_row.hpp"

#include <algorithm>
#include <array>

#include "experiments/sawtooth/results/intervals.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"

namespace sawtooth::experiments {
namespace {

const OptionSpec* option_of(std::string_view column) {
  std::string key(column);
  std::ranges::replace(key, '_', '-');
  const OptionSpec* option = find_option(key);
  return option != nullptr && option->field.print != nullptr ? option : nullptr;
}

// The cell of a column that may name a file: what the file says stands in `inputs`.
std::string_view without_path(size_t column, std::string_view cell) {
  const ResultColumn& of = result_columns[column];
  const bool is_path = of.kind == ColumnKind::parameter ? !cell.empty() : cell.starts_with("file:");
  return of.may_be_path && is_path ? "file" : cell;
}

}  // namespace

CsvRow counter_cells(const sim::Counters& counters) {
  CsvRow cells;
  for (const sim::CounterColumn& column : sim::counter_columns) {
    const sim::Sectors& value = counters.*column.member;
    cells.push_back(value ? std::to_string(*value) : std::string());
  }
  return cells;
}

CsvRow key_cells(const Point& point, std::string_view experiment, std::string_view source) {
  static const auto options = [] {
    std::array<const OptionSpec*, key_column_count> of{};
    for (size_t i = 0; i < of.size(); ++i) of[i] = option_of(result_columns[i].name);
    return of;
  }();
  CsvRow cells(key_column_count);
  for (size_t i = 0; i < key_column_count; ++i) {
    const ResultColumn& column = result_columns[i];
    if (column.cell != nullptr)
      cells[i] = column.cell({point});
    else if (options[i] != nullptr)
      cells[i] = options[i]->field.print(point.keys);
    if (cells[i] == column.unsaid) cells[i].clear();
  }
  cells[result_column("experiment")] = experiment;
  cells[result_column("source")] = source;
  return cells;
}

CsvRow measured_key_cells(const Point& point, std::string_view experiment) {
  CsvRow cells = key_cells(point, experiment, "measured");
  for (size_t i = 0; i < key_column_count; ++i) {
    using enum ColumnKind;
    const ColumnKind kind = result_columns[i].kind;
    if (kind == model || kind == parameter || kind == made || kind == content) cells[i].clear();
  }
  // All else that files say stands in cells of its own.
  std::string& inputs = cells[result_column("inputs")];
  for (const char* kind : {"order", "page-table", "mask"}) {
    const auto content = point.contents.find(kind);
    if (content == point.contents.end()) continue;
    inputs.append(inputs.empty() ? "" : " ").append(kind).append("=").append(content->second);
  }
  return cells;
}

std::string row_key(const CsvRow& cells, size_t columns) {
  const auto begin = cells.begin();
  CsvRow key(begin, begin + static_cast<std::ptrdiff_t>(std::min(columns, cells.size())));
  for (size_t i = 0; i < key_column_count; ++i) key[i] = without_path(i, key[i]);
  key[result_column("judged")].clear();
  return csv_line(key);
}

std::string run_id(const CsvRow& key_cells) {
  constexpr int digits = 12;
  ContentHash hash;
  for (size_t i = 0; i < key_column_count; ++i) {
    const auto& [name, kind, unsaid, may_be_path, cell] = result_columns[i];
    using enum ColumnKind;
    if (kind == label || kind == ColumnKind::kernel) continue;
    if (i == result_column("version") || i == result_column("judged")) continue;
    const bool where_not_empty = kind == parameter || kind == made || kind == ColumnKind::optional;
    if (where_not_empty && key_cells[i].empty()) continue;
    if (where_not_empty) hash.add(name);
    hash.add_line(without_path(i, key_cells[i]));
  }
  if (!key_cells[result_column("timing")].empty()) hash.add_number(sim::model_version);
  return hash.text(digits);
}

CsvRow row_without_result(const CsvRow& key_cells, std::string_view status,
                          const std::string& message) {
  CsvRow row = key_cells;
  row.resize(result_columns.size());
  row[result_column("status")] = status;
  row[result_column("message")] = message;
  row[result_column("run_id")] = run_id(key_cells);
  return row;
}

CsvRow predicted_row(const CsvRow& key_cells, const sim::Counters& counters) {
  CsvRow row = key_cells;
  row.resize(first_counter_column);
  for (std::string& cell : counter_cells(counters)) row.push_back(std::move(cell));
  row.resize(result_columns.size());
  row[result_column("status")] = "ok";
  row[result_column("run_id")] = run_id(key_cells);
  return row;
}

CsvRow predicted_row(const CsvRow& key_cells, const RowSource& source) {
  CsvRow row = predicted_row(key_cells, source.prediction->total);
  for (size_t i = first_counter_column; i < row.size(); ++i)
    if (result_columns[i].cell != nullptr) row[i] = result_columns[i].cell(source);
  row[result_column("judged")] = source.point.judgement.text(kind_name(source));
  add_intervals(source, row);
  return row;
}

std::string result_header() {
  CsvRow header;
  for (const ResultColumn& column : result_columns) header.emplace_back(column.name);
  return csv_line(header);
}

}  // namespace sawtooth::experiments
