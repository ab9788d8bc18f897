#include "experiments/sawtooth/calibrate/item_records.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

// What `xz -dc` writes. The path goes to the shell in single quotes.
std::string uncompressed(const std::string& path) {
  std::string quoted;
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const auto close = [](std::FILE* stream) { return pclose(stream); };
  std::unique_ptr<std::FILE, decltype(close)> stream(
      popen(("xz -dc -- '" + quoted + "'").c_str(), "r"), close);
  std::string text;
  std::array<char, 1 << 16> piece{};
  while (stream != nullptr) {
    const size_t taken = std::fread(piece.data(), 1, piece.size(), stream.get());
    text.append(piece.data(), taken);
    if (taken == 0) break;
  }
  if (stream == nullptr || pclose(stream.release()) != 0)
    throw UsageError(path + ": xz cannot uncompress it; give the uncompressed file");
  return text;
}

CsvTable table_of(const std::string& path) {
  return path.ends_with(".xz") ? parse_csv(uncompressed(path), path) : read_csv(path);
}

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

std::map<std::string, RecordedLaunch> points_of(const std::string& path) {
  const CsvTable table = table_of(path);
  const Cells cells(table, {"run_id", "head_dim", "tile_q", "tile_kv", "mask", "launch", "workers",
                            "prefetch", "kernel", "scan", "dtype"});
  std::map<std::string, RecordedLaunch> points;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    RecordedLaunch& point = points[cells.text(row, 0)];
    point.kernel.head_dim = cells.number(row, 1);
    point.kernel.tiling = {cells.number(row, 2), cells.number(row, 3)};
    point.kernel.family = cells.text(row, 8);
    point.mask = cells.text(row, 4);
    point.launch = cells.text(row, 5);
    point.workers = cells.number(row, 6);
    point.prefetch = cells.number(row, 7);
    point.scan = cells.text(row, 9);
    point.element_bytes = cells.text(row, 10) == "fp32" ? 4 : 2;
  }
  return points;
}

}  // namespace

bool RecordedLaunch::is_steady() const {
  return launch != "grid" && mask == "none" && std::ranges::all_of(ctas, [](const auto& items) {
           return std::ranges::all_of(
               items, [](const RecordedItem& item) { return item.steps >= long_steps; });
         });
}

bool RecordedLaunch::has_lines(int64_t cta) const {
  const int64_t lines = kernel.tiling.kv_rows * kernel.head_dim * element_bytes / line_bytes;
  return prefetch > 0 && cta * lines / workers < (cta + 1) * lines / workers;
}

double RecordedLaunch::pace(int64_t cta, double item_ns) const {
  const std::vector<RecordedItem>& items = ctas.at(static_cast<size_t>(cta));
  int64_t steps = 0;
  for (size_t k = 0; k + 1 < items.size(); ++k) steps += items[k].steps;
  const auto between = static_cast<double>(items.size() - 1);
  return (double(items.back().start_ns - items.front().start_ns) - item_ns * between) /
         double(steps);
}

std::vector<RecordedLaunch> read_item_records(const std::string& points_path,
                                              const std::string& items_path) {
  const std::map<std::string, RecordedLaunch> points = points_of(points_path);
  const CsvTable table = table_of(items_path);
  const Cells cells(table, {"run_id", "repetition", "worker", "start_ns", "item", "steps"});
  std::map<std::pair<std::string, std::string>, size_t> numbers;
  std::vector<RecordedLaunch> launches;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& run_id = cells.text(row, 0);
    const auto point = points.find(run_id);
    if (point == points.end())
      throw UsageError(items_path + ": has launches of a point that " + points_path +
                       " has not: run_id " + run_id);
    const auto [number, fresh] = numbers.try_emplace({run_id, cells.text(row, 1)}, launches.size());
    if (fresh) launches.push_back(point->second);
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
