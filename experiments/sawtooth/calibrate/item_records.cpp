#include "experiments/sawtooth/calibrate/item_records.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "experiments/sawtooth/support/typed_csv.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

/// A row of `measure`, and what its cells become.
struct MeasuredPoint {
  std::string run_id, pass;
  LaunchTimes launch;
  std::optional<int64_t> dram_read_sectors;
  double time_us = not_told;
};

std::map<std::string, LaunchTimes> points_of(const std::string& path) {
  using M = MeasuredPoint;
  const CsvTable table = read_csv(path);
  TypedColumns<M> columns{{"run_id", [](M& m) { return &m.run_id; }},
                          {"head_dim", [](M& m) { return &m.launch.kernel.head_dim; }},
                          {"tile_q", [](M& m) { return &m.launch.kernel.tiling.q_rows; }},
                          {"tile_kv", [](M& m) { return &m.launch.kernel.tiling.kv_rows; }},
                          {"mask", [](M& m) { return &m.launch.mask; }},
                          {"launch", [](M& m) { return &m.launch.launch; }},
                          {"workers", [](M& m) { return &m.launch.workers; }},
                          {"prefetch", [](M& m) { return &m.launch.prefetch; }},
                          {"kernel", [](M& m) { return &m.launch.kernel.family; }},
                          {"scan", [](M& m) { return &m.launch.scan; }},
                          {"dtype", [](M& m) { return &m.launch.dtype; }}};
  const TypedColumns<M> others{{"pass", [](M& m) { return &m.pass; }},
                               {"dram_read_sectors", [](M& m) { return &m.dram_read_sectors; }},
                               {"time_us", [](M& m) { return &m.time_us; }}};
  for (const auto& column : others)
    if (table.column(column.name)) columns.push_back(column);
  std::map<std::string, LaunchTimes> points;
  for (MeasuredPoint& row : typed_rows(table, columns)) {
    if (row.pass == "backward") row.launch.kernel.family += "-backward";
    if (row.dram_read_sectors && !std::isnan(row.time_us))
      row.launch.dram_tb_per_s = double(*row.dram_read_sectors * sector_bytes) / row.time_us / 1e6;
    LaunchTimes& known = points.try_emplace(row.run_id, row.launch).first->second;
    if (std::isnan(known.dram_tb_per_s)) known.dram_tb_per_s = row.launch.dram_tb_per_s;
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
  const TypedColumns<I> columns{{"run_id", [](I& i) { return &i.run_id; }},
                                {"repetition", [](I& i) { return &i.repetition; }},
                                {"worker", [](I& i) { return &i.worker; }},
                                {"start_ns", [](I& i) { return &i.item.start_ns; }},
                                {"item", [](I& i) { return &i.item.item; }},
                                {"steps", [](I& i) { return &i.item.steps; }}};
  std::map<std::pair<std::string, std::string>, size_t> launch_numbers;
  std::vector<RecordedLaunch> launches;
  const std::vector<ItemRow> rows = typed_rows(read_csv(items_path), columns);
  for (const ItemRow& row : rows) {
    // The cell says how much memory is taken.
    if (row.worker < 0 || row.worker >= std::ssize(rows))
      throw UsageError(items_path + ": worker " + std::to_string(row.worker) + " of " +
                       std::to_string(rows.size()) + " items; CTAs are numbered from 0 on");
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
