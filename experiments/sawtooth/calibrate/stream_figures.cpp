#include "experiments/sawtooth/calibrate/stream_figures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "experiments/sawtooth/support/statistics.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;

/// What `value` says of each row of a series of loads.
template <class Value>
std::vector<double> values_of(const std::vector<StreamRow>& rows, StreamShape shape, bool reversed,
                              std::string_view range, Value value) {
  std::vector<double> values;
  for (const StreamRow& row : rows) {
    if (row.point.access != kernels::StreamAccess::ld || row.point.shape != shape ||
        row.point.reversed != reversed || row.range != range)
      continue;
    if (const std::optional<double> one = value(row)) values.push_back(*one);
  }
  return values;
}

void add_kept(std::vector<Figure>& figures, const std::vector<StreamRow>& rows, int64_t l2_bytes,
              StreamShape shape, const std::string& name) {
  std::vector<double> kept =
      values_of(rows, shape, true, "p2", [&](const StreamRow& row) -> std::optional<double> {
        const auto dram = dram_reads(row);
        if (!dram || row.point.share_of(l2_bytes) < 0.9) return std::nullopt;
        return double((row.buffer_sectors - *dram) * sector_bytes) / mib_bytes;
      });
  if (kept.empty()) return;
  const std::string count = std::to_string(kept.size());
  figures.push_back({name, median_of(std::move(kept)), "MiB",
                     "bytes of a reversed second pass that were not read from DRAM, median of " +
                         count + " readings of buffers above 0.9 of L2"});
}

void add_edge(std::vector<Figure>& figures, const std::vector<StreamRow>& rows, StreamShape shape,
              const std::string& name) {
  std::map<int64_t, std::pair<double, int>> curve;  // by MiB: sum and number of shares from DRAM
  values_of(rows, shape, false, "p2", [&](const StreamRow& row) -> std::optional<double> {
    if (const auto dram = dram_reads(row)) {
      curve[row.point.mib].first += row.share(*dram);
      ++curve[row.point.mib].second;
    }
    return std::nullopt;
  });
  for (const int percent : {10, 90}) {
    const auto share = [](const auto& at) { return at->second.first / at->second.second; };
    auto high = curve.begin();
    while (high != curve.end() && share(high) < percent / 100.0) ++high;
    if (high == curve.begin() || high == curve.end()) continue;
    const auto low = std::prev(high);
    const double along = (percent / 100.0 - share(low)) / (share(high) - share(low));
    figures.push_back({name + "_" + std::to_string(percent),
                       double(low->first) + along * double(high->first - low->first), "MiB",
                       "size whose linear second pass reads " + std::to_string(percent) +
                           " % from DRAM, interpolated"});
  }
}

std::optional<double> ratio(const std::optional<int64_t>& part, const std::optional<int64_t>& all) {
  if (!part || !all || *all == 0) return std::nullopt;
  return double(*part) / double(*all);
}

void add_far_first(std::vector<Figure>& figures, const std::vector<StreamRow>& rows) {
  std::vector<double> shares =
      values_of(rows, StreamShape::all, false, "p1", [](const StreamRow& row) {
        return ratio(row.count(L2Counter::fabric_read_miss), dram_reads(row));
      });
  if (shares.empty()) return;
  const std::string count = std::to_string(shares.size());
  figures.push_back(
      {"far_first_share", median_of(std::move(shares)), "1",
       "fabric misses / DRAM reads of cold passes that every SM reads, median of " + count});
}

void add_coalescing(std::vector<Figure>& figures, const std::vector<StreamRow>& rows) {
  std::vector<double> shares;
  for (const bool reversed : {false, true})
    for (const std::string_view range : {"p1", "p2"})
      for (const double share :
           values_of(rows, StreamShape::all, reversed, range, [](const StreamRow& row) {
             return ratio(row.count(L2Counter::l2_read), row.count(L2Counter::sm_read));
           }))
        shares.push_back(share);
  if (shares.empty()) return;
  const auto [low, high] = std::ranges::minmax(shares);
  const std::string how = "reads that reach L2 / sectors that SMs receive, over " +
                          std::to_string(shares.size()) + " passes that every SM reads";
  figures.push_back({"coalescer_all_low", low, "1", "least of " + how});
  figures.push_back({"coalescer_all_high", high, "1", "largest of " + how});
}

}  // namespace

std::vector<Figure> stream_figures(const std::vector<StreamRow>& rows, int64_t l2_bytes) {
  std::vector<Figure> figures;
  add_kept(figures, rows, l2_bytes, StreamShape::same, "private_kept");
  add_kept(figures, rows, l2_bytes, StreamShape::all, "shared_kept");
  add_edge(figures, rows, StreamShape::same, "private_edge");
  add_edge(figures, rows, StreamShape::all, "shared_edge");
  add_far_first(figures, rows);
  add_coalescing(figures, rows);
  return figures;
}

std::string figures_csv(const std::vector<Figure>& figures) {
  std::ostringstream out;
  out << "name,value,unit,how\n";
  for (const Figure& figure : figures)
    out << figure.name << ',' << figure.value << ',' << figure.unit << ",\"" << figure.how
        << "\"\n";
  return out.str();
}

std::string figures_text(const std::vector<Figure>& figures) {
  std::ostringstream out;
  for (const Figure& figure : figures)
    out << figure.name << " = " << figure.value << ' ' << figure.unit << '\n';
  return out.str();
}

const Figure* find_figure(const std::vector<Figure>& figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  return found == figures.end() ? nullptr : &*found;
}

std::string gpu_profile_ini(const MeasuredGpu& gpu, const std::vector<Figure>& figures) {
  std::ostringstream text;
  const auto add = [&](std::string_view key, const auto& value, std::string_view note) {
    text << key << " = " << value << "; measured; " << note << "\n";
  };
  text << "# Written by `sawtooth calibrate`; " << gpu.how << "\n"
       << "# Ways of L2 cannot be told from these streams: sets are hashed.\n\n"
       << "[gpu]\ndescription = " << gpu.description << "\n";
  add("sms", gpu.sms, "cudaDevAttrMultiProcessorCount");
  add("l2-bytes", gpu.l2_bytes, "cudaDevAttrL2CacheSize");
  constexpr std::pair<const char*, const char*> keys[] = {{"l2-halves", "halves"},
                                                          {"dram-gb-per-s", "dram_read_bandwidth"},
                                                          {"l2-gb-per-s", "l2_bandwidth"},
                                                          {"latency-near-ns", "latency_near_ns"},
                                                          {"latency-far-ns", "latency_far_ns"},
                                                          {"latency-dram-ns", "latency_dram_ns"}};
  for (const auto& [key, name] : keys)
    if (const Figure* found = find_figure(figures, name))
      add(key, std::llround(found->value), found->how);
  if (gpu.max_sm_clock_mhz != "unknown")
    add("sm-clock-mhz", gpu.max_sm_clock_mhz, "NVML's largest SM clock");
  add("shared-memory-block-bytes", gpu.shared_memory_block_bytes,
      "cudaDevAttrMaxSharedMemoryPerBlockOptin");
  return text.str();
}

}  // namespace sawtooth::experiments
