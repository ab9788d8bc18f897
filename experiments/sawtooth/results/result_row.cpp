#include "experiments/sawtooth/results/result_row.hpp"

#include <algorithm>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/results/intervals.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

std::string key_of(std::string_view column) {
  std::string key(column);
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

// The cell of a column that may name a file: what the file says stands in `inputs`.
std::string_view without_path(size_t column, std::string_view cell) {
  constexpr std::string_view file = "file";
  const bool may_be_file =
      column == result_column("q_order") || column == result_column("page_table");
  if (may_be_file && cell.starts_with("file:")) return file;
  return column == result_column("l2_hash_matrix") && !cell.empty() ? file : cell;
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
  CsvRow cells;
  for (size_t i = 0; i < key_column_count; ++i) {
    const OptionSpec* key = find_option(key_of(result_columns[i].name));
    const bool of_point = key != nullptr && key->field.print != nullptr;
    cells.push_back(of_point ? key->field.print(point.keys) : std::string());
  }
  const auto leave_out = [&](size_t column, std::string_view usual) {
    if (cells[column] == usual) cells[column].clear();
  };
  cells[result_column("experiment")] = experiment;
  cells[result_column("source")] = source;
  cells[result_column("version")] = program_version;
  leave_out(result_column("pack_gqa"), "off");
  leave_out(result_column("cascade"), "off");
  leave_out(result_column("without"), without_nothing);
  leave_out(result_column("launches"), "1");
  cells[result_column("costs")] = point.costs;
  cells[result_column("judged")] = point.judgement.word;
  std::string& inputs = cells[result_column("inputs")];
  for (const auto& [kind, content] : point.contents)
    inputs.append(inputs.empty() ? "" : " ").append(kind).append("=").append(content);
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
  for (const char* kind : {"order", "page-table"}) {
    const auto content = point.contents.find(kind);
    if (content == point.contents.end()) continue;
    inputs.append(inputs.empty() ? "" : " ").append(kind).append("=").append(content->second);
  }
  return cells;
}

Settings measured_settings(Settings settings) {
  settings.try_emplace("tiles", Assignment{{"kernel"}, {"default", 0}});
  return settings;
}

std::string row_key(const CsvRow& cells, size_t columns) {
  const auto begin = cells.begin();
  CsvRow key(begin, begin + static_cast<std::ptrdiff_t>(std::min(columns, cells.size())));
  for (const size_t column :
       {result_column("q_order"), result_column("page_table"), result_column("l2_hash_matrix")})
    key[column] = without_path(column, key[column]);
  key[result_column("judged")].clear();
  return csv_line(key);
}

std::string run_id(const CsvRow& key_cells) {
  constexpr int digits = 12;
  ContentHash hash;
  for (size_t i = 0; i < key_column_count; ++i) {
    const auto& [name, kind] = result_columns[i];
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

CsvRow predicted_row(const CsvRow& key_cells, const sim::Prediction& prediction, double flop,
                     const std::vector<IntervalWidth>& intervals) {
  CsvRow row = predicted_row(key_cells, prediction.total);
  if (prediction.time_us) {
    constexpr double us_per_second = 1e6, flop_per_tera = 1e12;
    row[result_column("time_us")] = fixed(*prediction.time_us, 2);
    row[result_column("tflops")] =
        fixed(flop / (*prediction.time_us / us_per_second) / flop_per_tera, 2);
  }
  const auto set = [&](size_t column, const std::optional<double>& value, int digits) {
    if (value) row[column] = fixed(*value, digits);
  };
  set(result_column("transfer_us"), prediction.transfer_us, 2);
  set(result_column("exposed_us"), prediction.exposed_us, 2);
  set(result_column("of_ideal"), prediction.of_ideal, 4);
  add_intervals(prediction, intervals, row);
  return row;
}

std::string result_header() {
  CsvRow header;
  for (const ResultColumn& column : result_columns) header.emplace_back(column.name);
  return csv_line(header);
}

}  // namespace sawtooth::experiments
