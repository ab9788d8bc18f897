#include "experiments/sawtooth/results/result_row.hpp"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <sstream>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

std::string key_of(std::string_view column) {
  std::string key(column);
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
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
  cells[result_column("pass")] = "forward";
  cells[result_column("version")] = program_version;
  leave_out(result_column("without"), without_nothing);
  leave_out(result_column("launches"), "1");
  leave_out(result_column("sample"), "1");
  cells[result_column("die")] = point.die;
  cells[result_column("costs")] = point.costs;
  return cells;
}

std::string run_id(const CsvRow& key_cells) {
  // FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv, section 2).
  constexpr uint64_t offset_basis = 0xcbf29ce484222325ULL;
  constexpr uint64_t prime = 0x100000001b3ULL;
  constexpr int digits = 12;
  constexpr int bits_a_digit = 4;
  uint64_t hash = offset_basis;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  };
  for (size_t i = 0; i < key_column_count; ++i) {
    const auto& [name, kind] = result_columns[i];
    using enum ColumnKind;
    if (kind == label || kind == ColumnKind::kernel || kind == made) continue;
    if (kind == parameter && key_cells[i].empty()) continue;
    if (kind == parameter) add(name);
    add(key_cells[i]);
    add("\n");
  }
  std::ostringstream text;
  text << std::hex << std::setw(digits) << std::setfill('0')
       << (hash >> (64 - digits * bits_a_digit));
  return text.str();
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

CsvRow predicted_row(const CsvRow& key_cells, const sim::Prediction& prediction, double flop) {
  CsvRow row = predicted_row(key_cells, prediction.total);
  if (prediction.time_us) {
    constexpr double us_per_second = 1e6, flop_per_tera = 1e12;
    row[result_column("time_us")] = fixed(*prediction.time_us, 2);
    row[result_column("tflops")] =
        fixed(flop / (*prediction.time_us / us_per_second) / flop_per_tera, 2);
  }
  return row;
}

std::string result_header() {
  CsvRow header;
  for (const ResultColumn& column : result_columns) header.emplace_back(column.name);
  return csv_line(header);
}

}  // namespace sawtooth::experiments
