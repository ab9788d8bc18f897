#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "experiments/sawtooth/calibrate/launch_times.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

/// What a row of `measure` says beside its launch.
struct MeasuredRow {
  std::string run_id, pass;
  std::optional<int64_t> dram_read_sectors;
  double time_us = not_told;
};

std::map<std::string, LaunchTimes> points_of(const std::string& path) {
  using M = MeasuredRow;
  const CsvTable table = read_csv(path);
  const TypedColumns<M> columns{{"run_id", &M::run_id},
                                {"pass", &M::pass},
                                {"dram_read_sectors", &M::dram_read_sectors},
                                {"time_us", &M::time_us}};
  typed_rows(table, TypedColumns<M>{columns.front()});  // without the others it is a table, too
  std::map<std::string, LaunchTimes> points;
  size_t number = 0;
  for (LaunchTimes& launch : typed_rows(table, point_columns())) {
    const M row = typed_row(table, number++, columns);
    if (row.pass == "backward") launch.kernel.family += "-backward";
    if (row.dram_read_sectors && !std::isnan(row.time_us))
      launch.dram_tb_per_s = double(*row.dram_read_sectors * sector_bytes) / row.time_us / 1e6;
    LaunchTimes& known = points.try_emplace(row.run_id, launch).first->second;
    if (std::isnan(known.dram_tb_per_s)) known.dram_tb_per_s = launch.dram_tb_per_s;
  }
  return points;
}

struct ItemRow {
  std::string run_id, repetition;
  int64_t worker = 0;
  RecordedItem item;
};

}  // namespace

std::vector<RecordedLaunch> read_item_records(const std::string& points_path,
                                              const std::string& items_path) {
  const std::map<std::string, LaunchTimes> points = points_of(points_path);
  using I = ItemRow;
  const TypedColumns<I> columns{{"run_id", &I::run_id},
                                {"repetition", &I::repetition},
                                {"worker", &I::worker},
                                {"start_ns", &I::item, &RecordedItem::start_ns},
                                {"item", &I::item, &RecordedItem::item},
                                {"steps", &I::item, &RecordedItem::steps}};
  std::map<std::pair<std::string, std::string>, size_t> launch_numbers;
  std::vector<RecordedLaunch> launches;
  const std::vector<ItemRow> rows = typed_rows(read_csv(items_path), columns);
  std::map<std::pair<std::string, std::string>, int64_t> items_of;
  for (const ItemRow& row : rows) ++items_of[{row.run_id, row.repetition}];
  for (const ItemRow& row : rows) {
    // The cell says how much memory a launch takes.
    const int64_t items = items_of[{row.run_id, row.repetition}];
    if (row.worker < 0 || row.worker >= items)
      throw UsageError(items_path + ": worker " + std::to_string(row.worker) + " of a launch of " +
                       std::to_string(items) + " items; CTAs are numbered from 0 on");
    const auto point = points.find(row.run_id);
    if (point == points.end())
      throw UsageError(items_path + ": has launches of a point that " + points_path +
                       " has not: run_id " + row.run_id);
    const auto [number, fresh] =
        launch_numbers.try_emplace({row.run_id, row.repetition}, launches.size());
    if (fresh) launches.push_back({point->second, {}});
    auto& ctas = launches[number->second].ctas;
    const auto cta = static_cast<size_t>(row.worker);
    if (ctas.size() <= cta) ctas.resize(cta + 1);
    ctas[cta].push_back(row.item);
  }
  for (RecordedLaunch& launch : launches)
    for (auto& items : launch.ctas) std::ranges::sort(items, {}, &RecordedItem::start_ns);
  return launches;
}

}  // namespace sawtooth::experiments
