#include "experiments/sawtooth/results/side_tables.hpp"

#include <algorithm>
#include <map>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using sim::Access;
using sim::Tensor;

CsvRow leading_cells(const CsvRow& key_cells) {
  return {run_id(key_cells), key_cells[result_column("experiment")],
          key_cells[result_column("scan")]};
}

// Tables over capacities say the one that the GPU has.
CsvRow cells_with_l2(const CsvRow& key_cells) {
  CsvRow cells = leading_cells(key_cells);
  cells.push_back(key_cells[result_column("gpu")]);
  cells.push_back(key_cells[result_column("l2_bytes")]);
  return cells;
}

template <class... Cells>
std::string line_after(const CsvRow& leading, const Cells&... cells) {
  CsvRow row = leading;
  (row.emplace_back(cells), ...);
  return csv_line(row);
}

template <class Function>
void for_each_class(const sim::DistanceHistogram& histogram, Function function) {
  for (int t = 0; t < sim::tensor_count; ++t) {
    for (int a = 0; a < sim::access_count; ++a) {
      const auto tensor = static_cast<Tensor>(t);
      const auto access = static_cast<Access>(a);
      function(tensor, access, histogram.of(tensor, access));
    }
  }
}

std::string counter_line(const CsvRow& key_cells, const std::string& tensor,
                         const sim::Counters& counters, const std::string& part) {
  CsvRow row = leading_cells(key_cells);
  row.push_back(tensor);
  for (std::string& cell : counter_cells(counters)) row.push_back(std::move(cell));
  row.push_back(part);
  const int64_t all = counters.l2_read_sectors.value_or(0) + counters.l2_write_sectors.value_or(0);
  const int64_t misses =
      counters.l2_read_miss_sectors.value_or(0) + counters.l2_write_miss_sectors.value_or(0);
  const bool is_known = all > 0 && counters.l2_read_miss_sectors;
  row.push_back(is_known ? fixed(1 - double(misses) / double(all), 4) : std::string());
  return csv_line(row);
}

struct Sums {
  int64_t reads = 0, writes = 0;
  void add(Access access, int64_t sectors) {
    (access == Access::write ? writes : reads) += sectors;  // a reduction that misses reads
  }
};

std::string by_tensor_header() {
  CsvRow header{"run_id", "experiment", "scan", "tensor"};
  for (const sim::CounterColumn& counter : sim::counter_columns) header.emplace_back(counter.name);
  header.insert(header.end(), {"part", "hit_rate"});
  return csv_line(header);
}

/// A row a tensor: run_id, experiment, scan, tensor, and the ten counters of results.csv.
std::string by_tensor_rows(const CsvRow& key_cells, const sim::Prediction& prediction) {
  std::string text;
  for (size_t t = 0; t < sim::tensor_count; ++t) {
    const sim::Counters& counters = prediction.by_tensor[t];
    const bool untouched = counters.l2_read_sectors.value_or(0) == 0 &&
                           counters.l2_write_sectors.value_or(0) == 0 &&
                           counters.l2_reduction_sectors.value_or(0) == 0;
    // Only traces and the backward pass touch these.
    if (static_cast<Tensor>(t) >= Tensor::other && untouched) continue;
    text += counter_line(key_cells, std::string(sim::tensor_names[t]), counters, "");
  }
  for (size_t part = 0; part < prediction.by_part.size(); ++part)
    text += counter_line(key_cells, "all", prediction.by_part[part], std::to_string(part));
  return text;
}

std::string miss_curve_header() {
  return csv_line({"run_id", "experiment", "scan", "gpu", "l2_bytes", "capacity_bytes",
                   "read_miss_sectors", "write_miss_sectors", "miss_sectors"});
}

/// A row for each capacity at which fewer sectors miss than just below it, from 0 bytes on; it
/// holds up to the next row's capacity. Prefetches count as reads.
std::string miss_curve_rows(const CsvRow& key_cells, const sim::Prediction& prediction) {
  std::map<int64_t, Sums> hits_at;  // capacity in lines -> sectors that hit from it on
  Sums missing;
  for_each_class(prediction.histogram, [&](Tensor, Access access, const auto& distances) {
    missing.add(access, distances.sectors());
    for (const sim::DistanceBin& bin : distances.bins())
      hits_at[bin.lines + 1].add(access, bin.sectors);
  });
  hits_at.try_emplace(0);
  const CsvRow leading = cells_with_l2(key_cells);
  std::string text;
  for (const auto& [lines, hits] : hits_at) {
    missing.reads -= hits.reads;
    missing.writes -= hits.writes;
    text +=
        line_after(leading, std::to_string(lines * line_bytes), std::to_string(missing.reads),
                   std::to_string(missing.writes), std::to_string(missing.reads + missing.writes));
  }
  return text;
}

std::string histogram_header() {
  return csv_line({"run_id", "experiment", "scan", "gpu", "l2_bytes", "tensor", "access",
                   "distance_lines", "sectors"});
}

/// A row a tensor, access and distance; an empty distance is a first touch.
std::string histogram_rows(const CsvRow& key_cells, const sim::Prediction& prediction) {
  const CsvRow leading = cells_with_l2(key_cells);
  std::string text;
  for_each_class(prediction.histogram, [&](Tensor tensor, Access access, const auto& distances) {
    const std::string_view tensor_name = sim::tensor_names[static_cast<size_t>(tensor)];
    const std::string_view access_name = sim::access_names[static_cast<size_t>(access)];
    if (distances.cold_sectors() > 0)
      text += line_after(leading, tensor_name, access_name, "",
                         std::to_string(distances.cold_sectors()));
    for (const sim::DistanceBin& bin : distances.bins())
      text += line_after(leading, tensor_name, access_name, std::to_string(bin.lines),
                         std::to_string(bin.sectors));
  });
  return text;
}

constexpr struct {
  std::string_view key;
  std::string (*header)();
  std::string (*rows)(const CsvRow& key_cells, const sim::Prediction& prediction);
} tables[] = {
    {"by-tensor", by_tensor_header, by_tensor_rows},
    {"miss-curve", miss_curve_header, miss_curve_rows},
    {"histogram", histogram_header, histogram_rows},
};

}  // namespace

std::string side_table(std::string_view option, const CsvRow& key_cells,
                       const sim::Prediction& prediction) {
  const auto& table = *std::ranges::find(tables, option, [](const auto& t) { return t.key; });
  return table.header() + table.rows(key_cells, prediction);
}

std::string why_no_curve(const L2Model& l2, sim::Timing timing) {
  if (timing == sim::Timing::timed)
    return "timing = timed counts at one capacity; allowed: lockstep, lockstep-wave";
  if (l2.has_curve) return "";
  return "l2 = " + std::string(l2.name) + " counts at one capacity; allowed: l2 = lru";
}

void refuse_idle_curves(const Settings& outputs, const L2Model& l2, sim::Timing timing) {
  const std::string why = why_no_curve(l2, timing);
  for (const char* key : {"miss-curve", "histogram"})
    if (outputs.contains(key) && !why.empty())
      throw UsageError(place_of(key, outputs.at(key).origin) + ": " + why);
}

SideTables::SideTables(const Settings& outputs, bool writes) {
  for (const auto& table : tables) {
    const std::string path = value_or(outputs, table.key, "");
    if (path.empty()) continue;
    open_.push_back({writes ? std::make_unique<OutputFile>(path) : nullptr, table.rows});
    if (writes) open_.back().file->write(table.header());
  }
}

std::vector<std::string> SideTables::rows(const CsvRow& key_cells,
                                          const sim::Prediction& prediction) const {
  std::vector<std::string> texts;
  for (const Open& table : open_) texts.push_back(table.rows(key_cells, prediction));
  return texts;
}

void SideTables::write(const std::vector<std::string>& rows) {
  for (size_t t = 0; t < open_.size(); ++t) open_[t].file->write(rows[t]);
}

void SideTables::commit() {
  for (const Open& table : open_) table.file->commit();
}

}  // namespace sawtooth::experiments
