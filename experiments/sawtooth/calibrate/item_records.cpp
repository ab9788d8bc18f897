#include "experiments/sawtooth/calibrate/item_records.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

// Cells of a table by the name of their column.
class Cells {
 public:
  Cells(const CsvTable& table, std::initializer_list<std::string_view> names) : table_(table) {
    for (const std::string_view name : names) {
      const auto place = table.column(name);
      if (!place) throw UsageError(table.path + ": has no column " + std::string(name));
      places_.push_back(*place);
    }
  }
  const std::string& text(size_t row, size_t column) const {
    return table_.rows[row][places_[column]];
  }
  int64_t number(size_t row, size_t column) const {
    try {
      return parse_count(text(row, column));
    } catch (const std::invalid_argument&) {
      throw UsageError(table_.path + ":" + std::to_string(table_.line_of_row[row]) + ": '" +
                       text(row, column) + "' is no whole number");
    }
  }

 private:
  const CsvTable& table_;
  std::vector<size_t> places_;
};

std::map<std::string, LaunchTimes> points_of(const std::string& path) {
  const CsvTable table = read_csv(path);
  const Cells cells(table, {"run_id", "head_dim", "tile_q", "tile_kv", "mask", "launch", "workers",
                            "prefetch", "kernel", "scan", "dtype"});
  const auto pass = table.column("pass"), dram = table.column("dram_read_sectors"),
             time = table.column("time_us");
  const auto cell = [&](size_t row, const std::optional<size_t>& column) {
    return column ? table.rows[row][*column] : std::string();
  };
  std::map<std::string, LaunchTimes> points;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    LaunchTimes& point = points[cells.text(row, 0)];
    point.kernel.head_dim = cells.number(row, 1);
    point.kernel.tiling = {cells.number(row, 2), cells.number(row, 3)};
    point.kernel.family = cells.text(row, 8) + (cell(row, pass) == "backward" ? "-backward" : "");
    point.mask = cells.text(row, 4);
    point.launch = cells.text(row, 5);
    point.workers = cells.number(row, 6);
    point.prefetch = cells.number(row, 7);
    point.scan = cells.text(row, 9);
    point.dtype = cells.text(row, 10);
    if (!cell(row, dram).empty() && !cell(row, time).empty() && std::isnan(point.dram_tb_per_s))
      point.dram_tb_per_s =
          double(parse_count(cell(row, dram)) * sector_bytes) / std::stod(cell(row, time)) / 1e6;
  }
  return points;
}

}  // namespace

std::vector<RecordedLaunch> read_item_records(const std::string& points_path,
                                              const std::string& items_path) {
  const std::map<std::string, LaunchTimes> points = points_of(points_path);
  const CsvTable table = read_csv(items_path);
  const Cells cells(table, {"run_id", "repetition", "worker", "start_ns", "item", "steps"});
  std::map<std::pair<std::string, std::string>, size_t> launch_numbers;
  std::vector<RecordedLaunch> launches;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& run_id = cells.text(row, 0);
    const auto point = points.find(run_id);
    if (point == points.end())
      throw UsageError(items_path + ": has launches of a point that " + points_path +
                       " has not: run_id " + run_id);
    const auto [number, fresh] =
        launch_numbers.try_emplace({run_id, cells.text(row, 1)}, launches.size());
    if (fresh) launches.push_back({point->second, {}});
    auto& ctas = launches[number->second].ctas;
    const auto cta = static_cast<size_t>(cells.number(row, 2));
    if (ctas.size() <= cta) ctas.resize(cta + 1);
    ctas[cta].push_back({cells.number(row, 3), cells.number(row, 4), cells.number(row, 5)});
  }
  for (RecordedLaunch& launch : launches)
    for (auto& items : launch.ctas) std::ranges::sort(items, {}, &RecordedItem::start_ns);
  return launches;
}

}  // namespace sawtooth::experiments
