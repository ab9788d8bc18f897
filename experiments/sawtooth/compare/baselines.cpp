#include "experiments/sawtooth/compare/baselines.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/results/predicted_ring.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/ordered_workers.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view order_file_prefix = "file:";

// The settings that give the point of a key again.
Settings settings_of_key(const CsvRow& key) {
  const auto columns = join_columns();
  Settings settings;
  assign(settings, "timing", "lockstep", {});
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string name(columns[i]);
    if (key[i].empty() || name == "kernel" || name == "state") continue;
    std::replace(name.begin(), name.end(), '_', '-');
    if (name == "q-order" && key[i].starts_with(order_file_prefix)) {
      assign(settings, "order-file", key[i].substr(order_file_prefix.size()), {});
    } else {
      assign(settings, name, key[i], {});
    }
  }
  return settings;
}

struct Baseline {
  std::string_view name;
  std::string_view l2;
  /// The capacity of L2 to simulate, or nothing where the baseline does not exist.
  std::optional<int64_t> (*capacity)(const sim::Gpu& gpu);
  bool compulsory_only = false;
};

std::optional<int64_t> whole_l2(const sim::Gpu& gpu) {
  return gpu.l2_bytes;
}
std::optional<int64_t> half_l2(const sim::Gpu& gpu) {
  if (gpu.l2_halves.value_or(1) != 2) return std::nullopt;
  return gpu.l2_bytes / 2;
}

constexpr Baseline known_baselines[] = {
    {"compulsory", "lru", whole_l2, true},
    {"LRU, full", "lru", whole_l2},
    {"LRU, half", "lru", half_l2},
    {"halves", "halves", whole_l2},
};

// Every read comes from DRAM once, and there is no other counter.
sim::Counters compulsory(const sim::Counters& counters) {
  sim::Counters least;
  least.cold_read_sectors = counters.cold_read_sectors;
  least.l2_read_miss_sectors = counters.cold_read_sectors;
  least.dram_read_sectors = counters.cold_read_sectors;
  return least;
}

std::optional<CsvRow> row_of(const Baseline& baseline, const CsvRow& key, Point point) {
  const auto capacity = baseline.capacity(point.gpu);
  if (!capacity) return std::nullopt;
  point.keys.l2 = &model_named(l2_models, baseline.l2);
  point.keys.l2_bytes = capacity;
  point.request.l2_bytes = *capacity;
  sim::Counters counters;
  try {
    RingReplays rings;
    counters = predict_point_or_ring(point, point.request, key_cells(point, "", "predicted"), rings)
                   .prediction.total;
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // a GPU that the model has no parameters for
  }
  if (baseline.compulsory_only) counters = compulsory(counters);
  CsvRow cells = key_cells(point, "baselines", "predicted");
  // Cells that a resolved point spells in another way would not join.
  const auto columns = join_columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto place = std::ranges::find(result_columns, columns[i], &ResultColumn::name);
    cells[static_cast<size_t>(place - result_columns.begin())] = key[i];
  }
  cells[result_column("version")] = std::string(baseline_prefix).append(baseline.name);
  if (baseline.compulsory_only) {
    for (const size_t column :
         {result_column("timing"), result_column("l2"), result_column("l2_bytes")}) {
      cells[column].clear();
    }
  }
  return predicted_row(cells, counters);
}

}  // namespace

CsvTable simulate_baselines(const std::vector<CsvRow>& keys) {
  Catalog catalog;
  std::vector<std::pair<CsvRow, Point>> points;
  std::set<CsvRow> seen;
  for (const CsvRow& key : keys) {
    if (!seen.insert(key).second) continue;
    Settings settings = settings_of_key(key);
    assign(settings, "timing", "lockstep", {});
    points.emplace_back(key, resolve(settings, catalog));
  }
  CsvTable table = parse_csv(result_header(), "baselines");
  const size_t of_each = std::size(known_baselines);
  run_in_order(
      points.size() * of_each, std::max(1u, std::thread::hardware_concurrency()),
      [&](size_t job) {
        const auto& [key, point] = points[job / of_each];
        return row_of(known_baselines[job % of_each], key, point);
      },
      [&](size_t, std::optional<CsvRow> row) {
        if (!row) return;
        table.rows.push_back(std::move(*row));
        table.line_of_row.push_back(static_cast<int>(table.rows.size()));
      },
      [] {});
  return table;
}

}  // namespace sawtooth::experiments
