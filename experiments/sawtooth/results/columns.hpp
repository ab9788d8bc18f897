// The columns of results.csv, for predictions and measurements alike (docs/reference/columns.md):
// the one list of them, which `sawtooth --csv-header` prints.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/counters.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// Whether a prediction and a measurement of one point agree in columns of this kind.
constexpr bool joins(ColumnKind kind) {
  return kind == ColumnKind::joined || kind == ColumnKind::optional;
}

/// What stands in the column version of a prediction.
inline constexpr std::string_view program_version = SAWTOOTH_VERSION;

/// What the cells of a row are made from; a key cell of the point alone.
struct RowSource {
  const Point& point;
  const sim::Prediction* prediction = nullptr;
  double flop = 0;                                       // of the whole point
  const std::vector<sim::Prediction>* others = nullptr;  // that its intervals span
  std::string_view left_out = {};                        // models that these lack, and why
};

namespace columns_in_order {

using enum ColumnKind;

template <auto member, int digits>
std::string predicted_cell(const RowSource& source) {
  const std::optional<double>& value = source.prediction->*member;
  return value ? fixed(*value, digits) : std::string();
}
inline std::string tflops_cell(const RowSource& source) {
  constexpr double us_per_second = 1e6, flop_per_tera = 1e12;
  const auto& time_us = source.prediction->time_us;
  return time_us ? fixed(source.flop / (*time_us / us_per_second) / flop_per_tera, 2)
                 : std::string();
}
inline std::string inputs_cell(const RowSource& source) {
  std::string text;
  for (const auto& [kind, content] : source.point.contents)
    text.append(text.empty() ? "" : " ").append(kind).append("=").append(content);
  return text;
}

// Cells of these that are named like an option, and have no other source, say its resolved value.
inline constexpr auto of_every_point = std::to_array<ResultColumn>({
    {"experiment", label},   {"source", label},   {"gpu", joined},
    {"system", point},       {"kernel", kernel},  {"pass", joined},
    {"batch", joined},       {"heads", joined},   {"kv_heads", joined},
    {"seq_q", joined},       {"seq_kv", joined},  {"head_dim", joined},
    {"dtype", joined},       {"mask", joined},    {"tile_q", joined},
    {"tile_kv", joined},     {"section", joined}, {"q_order", joined, "", true},
    {"head_order", joined},  {"launch", joined},  {"workers", joined},
    {"ctas_per_sm", joined}, {"scan", joined},    {"prefetch", joined},
    {"kv_split", joined},    {"loop", joined},    {"lse", joined},
    {"hints", joined},       {"state", joined},
});
inline constexpr auto of_the_model = std::to_array<ResultColumn>({
    {"timing", model},
    {"l2", model},
    {"l2_bytes", model},
});
inline constexpr auto made_with = std::to_array<ResultColumn>({
    {"version", made, "", false, [](const RowSource&) { return std::string(program_version); }},
    {"without", made, without_nothing},
    {"launches", made, "1"},
    {"costs", made, "", false, [](const RowSource& source) { return source.point.costs; }},
    {"judged", made, "", false,
     [](const RowSource& source) { return source.point.judgement.text(); }},
    {"inputs", content, "", false, inputs_cell},
    {"seed", point},
    {"repetition", result},
});
inline constexpr auto after_counters = std::to_array<ResultColumn>({
    {"time_us", result, "", false, predicted_cell<&sim::Prediction::time_us, 2>},
    {"profiled_time_us", result},
    {"tflops", result, "", false, tflops_cell},
    {"transfer_us", result, "", false, predicted_cell<&sim::Prediction::transfer_us, 2>},
    {"exposed_us", result, "", false, predicted_cell<&sim::Prediction::exposed_us, 2>},
    {"of_ideal", result, "", false, predicted_cell<&sim::Prediction::of_ideal, 4>},
    {"replay_passes", result},
    {"l2_read_sectors_low", interval},
    {"l2_read_sectors_high", interval},
    {"l2_read_miss_sectors_low", interval},
    {"l2_read_miss_sectors_high", interval},
    {"fabric_read_sectors_low", interval},
    {"fabric_read_sectors_high", interval},
    {"fabric_read_miss_sectors_low", interval},
    {"fabric_read_miss_sectors_high", interval},
    {"dram_read_sectors_low", interval},
    {"dram_read_sectors_high", interval},
    {"dram_write_sectors_low", interval},
    {"dram_write_sectors_high", interval},
    {"time_us_low", interval},
    {"time_us_high", interval},
    {"status", result},
    {"message", result, "", false, [](const RowSource& of) { return std::string(of.left_out); }},
    {"run_id", result},
});

// Every column, to `take`, in the order of the file: those of a feature stand where its kind does,
// the counters are those of sim/counters.hpp.
template <class Take>
constexpr void for_each_column(Take take) {
  const auto all = [&](const auto& columns) {
    for (const ResultColumn& column : columns) take(column);
  };
  const auto of_features = [&](ColumnKind kind) {
    for_each_feature([&]<class Feature>(Feature*) {
      if constexpr (requires { Feature::columns; })
        if (Feature::columns.front().kind == kind) all(Feature::columns);
    });
  };
  all(of_every_point);
  of_features(optional);
  all(of_the_model);
  of_features(parameter);
  all(made_with);
  for (const sim::CounterColumn& counter : sim::counter_columns) take({counter.name, result});
  all(after_counters);
}

}  // namespace columns_in_order

/// The columns in the order of the file.
inline constexpr auto result_columns = [] {
  constexpr size_t count = [] {
    size_t columns = 0;
    columns_in_order::for_each_column([&](const ResultColumn&) { ++columns; });
    return columns;
  }();
  std::array<ResultColumn, count> all{};
  size_t end = 0;
  columns_in_order::for_each_column([&](const ResultColumn& column) { all[end++] = column; });
  return all;
}();

/// Index of a column; does not compile for a name that is not there.
consteval size_t result_column(std::string_view name) {
  for (size_t i = 0; i < result_columns.size(); ++i)
    if (result_columns[i].name == name) return i;
  throw "no such column";
}

/// The key of the option that a column is named like: tile-q of tile_q.
inline std::string key_of_column(std::string_view column) {
  std::string key(column);
  std::ranges::replace(key, '_', '-');
  return key;
}

/// Whether a table may be older than the column, and then has it empty.
constexpr bool may_be_missing(std::string_view name) {
  return std::ranges::any_of(result_columns, [&](const ResultColumn& column) {
    return column.name == name &&
           (column.kind == ColumnKind::optional || column.kind == ColumnKind::interval);
  });
}

/// The first columns, experiment to seed, say what a row is about; the rest came out of it.
inline constexpr size_t key_column_count = result_column("repetition");
inline constexpr size_t first_counter_column = result_column("repetition") + 1;

}  // namespace sawtooth::experiments
