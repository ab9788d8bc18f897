#include "experiments/sawtooth/results/result_row.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

const OptionSpec* option_of(std::string_view column) {
  const OptionSpec* option = find_option(key_of_column(column));
  return option != nullptr && option->field.print != nullptr ? option : nullptr;
}

// The cell of a column that may name a file: what the file says stands in `inputs`.
std::string_view without_path(size_t column, std::string_view cell) {
  const ResultColumn& of = result_columns[column];
  const bool is_path = of.kind == ColumnKind::parameter ? !cell.empty() : cell.starts_with("file:");
  return of.may_be_path && is_path ? "file" : cell;
}

constexpr std::string_view time_column = "time_us";

size_t place_of(const std::string& column) {
  const auto found = std::ranges::find(result_columns, column, &ResultColumn::name);
  return static_cast<size_t>(found - result_columns.begin());
}

std::optional<double> value_of(const sim::Counters& counters, std::string_view column) {
  const auto counter = std::ranges::find(sim::counter_columns, column, &sim::CounterColumn::name);
  const sim::Sectors& value = counters.*counter->member;
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

constexpr double over_compulsory = 1.5;

PointKind kind_of(const RowSource& source) {
  const Keys& keys = source.point.keys;
  const sim::Counters& counters = source.prediction->total;
  const double reads = double(counters.dram_read_sectors.value_or(0));
  if (reads <= over_compulsory * double(counters.cold_read_sectors.value_or(0)))
    return PointKind::within;
  const bool masked = keys.mask.kind != MaskKind::none;
  const bool ascending = keys.order_file.empty() && keys.q_order == q_order_id<AscendingQ>;
  if (masked && ascending) return PointKind::drifting;
  const bool heads_in_turn = keys.section && keys.section->heads == 1;
  return masked || !heads_in_turn ? PointKind::apart : PointKind::in_step;
}

static_assert(std::ranges::all_of(interval_columns, [](std::string_view name) {
  return name == time_column ||
         std::ranges::find(sim::counter_columns, name, &sim::CounterColumn::name) !=
             sim::counter_columns.end();
}));

constexpr size_t most_reasons = 100;

// "gpu gb10 batch 1 ...": the key columns that are not empty.
std::string point_text(const CsvRow& cells) {
  std::string text;
  for (size_t i = 0; i < key_column_count; ++i) {
    if (cells[i].empty() || result_columns[i].kind == ColumnKind::label) continue;
    text.append(text.empty() ? "" : " ").append(result_columns[i].name).append(" ");
    text.append(cells[i]);
  }
  return text;
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
  const auto kind = static_cast<size_t>(kind_of(source));
  row[result_column("judged")] = source.point.judgement.text(point_kind_names[kind]);
  add_intervals(source, row);
  return row;
}

void add_intervals(const RowSource& source, CsvRow& row) {
  const sim::Prediction& prediction = *source.prediction;
  const PointKind kind = kind_of(source);
  const Keys& keys = source.point.keys;
  // Near misses of SMs that read each sector of cold_read_sectors themselves are as many, too.
  const bool all_miss = keys.pass == Pass::forward && keys.prefetch == 0 && !keys.ring;
  const auto put = [&](const std::string& column, double low, double value, double high) {
    const bool is_time = column == time_column;
    const auto end = [&](bool ends, const char* of, double otherwise) {
      return ends ? value_of(prediction.total, of).value_or(otherwise) : otherwise;
    };
    const bool writes = column.find("write") != std::string::npos;
    const bool has_least =
        column == "dram_read_sectors" || (all_miss && column == "l2_read_miss_sectors");
    const double least = end(has_least, "cold_read_sectors", 0);
    const double most = end(!is_time, writes ? "l2_write_sectors" : "sm_read_sectors", high);
    low = std::max(low, std::min(least, value));
    high = std::min(high, std::max(most, value));
    row[place_of(column + "_low")] = is_time ? fixed(low, 2) : fixed(std::floor(low), 0);
    row[place_of(column + "_high")] = is_time ? fixed(high, 2) : fixed(std::ceil(high), 0);
  };
  if (source.others != nullptr && !source.others->empty()) {
    for (const std::string_view column : interval_columns) {
      const bool is_time = column == time_column;
      if (is_time && source.point.kernel_ends.empty()) continue;  // timed alone has any
      const auto value_in = [&](const sim::Prediction& one) {
        return is_time ? one.time_us : value_of(one.total, column);
      };
      const auto value = value_in(prediction);
      if (!value) continue;
      std::vector<double> all{*value};
      for (const sim::Prediction& other : *source.others)
        all.push_back(value_in(other).value_or(*value));
      const auto [low, high] = std::minmax_element(all.begin(), all.end());
      double factor = 1;
      for (const IntervalWidth& width : source.point.end_widths)
        if (width.column == column && !is_time) factor = std::exp(width.half_width({*value}, kind));
      put(std::string(column), *low / factor, *value, *high * factor);
    }
    return;
  }
  for (const IntervalWidth& width : source.point.judgement.intervals) {
    const bool is_time = width.column == time_column;
    const auto value = is_time ? prediction.time_us : value_of(prediction.total, width.column);
    std::vector<double> launches;
    for (const sim::SimulatedLaunch& launch : prediction.launches)
      launches.push_back(is_time ? launch.time_us
                                 : value_of(launch.total, width.column).value_or(0));
    const bool known = value && *value > 0 && !launches.empty() &&
                       std::ranges::all_of(launches, [](double one) { return one > 0; });
    if (!known) continue;
    const double h =
        is_time ? width.half_width_of_time(launches, *value) : width.half_width(launches, kind);
    const double factor = std::exp(h);
    put(width.column, *value / factor, *value, *value * factor);
  }
}

std::string result_header() {
  CsvRow header;
  for (const ResultColumn& column : result_columns) header.emplace_back(column.name);
  return csv_line(header);
}

void Failures::add(const CsvRow& row) {
  const std::string& message = row[result_column("message")];
  auto reason = std::ranges::find(reasons_, message, &Reason::message);
  if (reason == reasons_.end() && reasons_.size() == most_reasons) {
    ++others_;
    return;
  }
  if (reason == reasons_.end())
    reason = reasons_.insert(reason, Reason{message, point_text(row), 0});
  ++reason->points;
}

void Failures::print() const {
  for (const Reason& reason : reasons_)
    std::cerr << "sawtooth: " << one_line(reason.message) << " (" << reason.points
              << (reason.points == 1 ? " point: " : " points, the first: ")
              << one_line(reason.first_point) << ")\n";
  if (others_ > 0) std::cerr << "sawtooth: other reasons (" << others_ << " points)\n";
}

}  // namespace sawtooth::experiments
