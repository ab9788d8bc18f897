#include "experiments/sawtooth/results/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

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

PointKind kind_of(const Keys& keys, const sim::Counters& counters) {
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

}  // namespace

std::string_view kind_name(const RowSource& source) {
  return point_kind_names[size_t(kind_of(source.point.keys, source.prediction->total))];
}

void add_intervals(const RowSource& source, CsvRow& row) {
  const sim::Prediction& prediction = *source.prediction;
  const PointKind kind = kind_of(source.point.keys, prediction.total);
  const auto put = [&](const std::string& column, double low, double value, double high) {
    const bool is_time = column == time_column;
    const auto end = [&](bool ends, const char* of, double otherwise) {
      return ends ? value_of(prediction.total, of).value_or(otherwise) : otherwise;
    };
    const bool writes = column.find("write") != std::string::npos;
    const double least = end(column == "dram_read_sectors", "cold_read_sectors", 0);
    const double most = end(!is_time, writes ? "l2_write_sectors" : "sm_read_sectors", high);
    low = std::max(low, std::min(least, value));
    high = std::min(high, std::max(most, value));
    row[place_of(column + "_low")] = is_time ? fixed(low, 2) : fixed(std::floor(low), 0);
    row[place_of(column + "_high")] = is_time ? fixed(high, 2) : fixed(std::ceil(high), 0);
  };
  if (source.point.spans_models() && source.others != nullptr) {
    for (const std::string_view column : interval_columns) {
      if (column == time_column) continue;  // no model's was judged
      const auto value = value_of(prediction.total, column);
      if (!value) continue;
      std::vector<double> all{*value};
      for (const sim::Prediction& other : *source.others)
        all.push_back(value_of(other.total, column).value_or(*value));
      const auto [low, high] = std::minmax_element(all.begin(), all.end());
      put(std::string(column), *low, *value, *high);
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

}  // namespace sawtooth::experiments
