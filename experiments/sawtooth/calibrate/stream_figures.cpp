#include "experiments/sawtooth/calibrate/stream_figures.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>

#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;
using kernels::StreamAccess;

struct Series {
  StreamShape shape;
  bool reversed;
  std::string_view range;
};

std::vector<const StreamRow*> rows_of(const std::vector<StreamRow>& rows, Series series) {
  std::vector<const StreamRow*> found;
  for (const StreamRow& row : rows) {
    if (row.point.access == StreamAccess::ld && row.point.shape == series.shape &&
        row.point.reversed == series.reversed && row.range == series.range) {
      found.push_back(&row);
    }
  }
  return found;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void add_kept(std::vector<Figure>& figures, const std::vector<StreamRow>& rows, int64_t l2_bytes,
              StreamShape shape, const std::string& name) {
  std::vector<double> kept;
  for (const StreamRow* row : rows_of(rows, {shape, true, "p2"})) {
    const auto dram = dram_reads(*row);
    if (!dram || double(row->point.mib) * mib_bytes < 0.9 * double(l2_bytes)) continue;
    kept.push_back(double((row->buffer_sectors - *dram) * sector_bytes) / mib_bytes);
  }
  if (kept.empty()) return;
  figures.push_back({name, median(kept), "MiB",
                     "bytes of a reversed second pass that were not read from DRAM, median of " +
                         std::to_string(kept.size()) + " readings of buffers above 0.9 of L2"});
}

/// Mean share of the buffer that the second pass reads from DRAM, by size in MiB.
std::map<int64_t, double> miss_curve(const std::vector<StreamRow>& rows, StreamShape shape) {
  std::map<int64_t, std::pair<double, int>> sums;
  for (const StreamRow* row : rows_of(rows, {shape, false, "p2"})) {
    const auto dram = dram_reads(*row);
    if (!dram) continue;
    auto& [sum, count] = sums[row->point.mib];
    sum += double(*dram) / double(row->buffer_sectors);
    ++count;
  }
  std::map<int64_t, double> curve;
  for (const auto& [mib, sum] : sums) curve[mib] = sum.first / sum.second;
  return curve;
}

std::optional<double> size_at(const std::map<int64_t, double>& curve, double share) {
  for (auto high = curve.begin(); high != curve.end(); ++high) {
    if (high->second < share) continue;
    if (high == curve.begin()) return std::nullopt;
    const auto low = std::prev(high);
    const double along = (share - low->second) / (high->second - low->second);
    return double(low->first) + along * double(high->first - low->first);
  }
  return std::nullopt;
}

void add_edge(std::vector<Figure>& figures, const std::vector<StreamRow>& rows, StreamShape shape,
              const std::string& name) {
  const std::map<int64_t, double> curve = miss_curve(rows, shape);
  for (const int percent : {10, 90}) {
    const auto size = size_at(curve, percent / 100.0);
    if (!size) continue;
    figures.push_back({name + "_" + std::to_string(percent), *size, "MiB",
                       "size whose linear second pass reads " + std::to_string(percent) +
                           " % from DRAM, interpolated"});
  }
}

void add_far_first(std::vector<Figure>& figures, const std::vector<StreamRow>& rows) {
  std::vector<double> shares;
  for (const StreamRow* row : rows_of(rows, {StreamShape::all, false, "p1"})) {
    const auto dram = dram_reads(*row);
    const auto fabric_miss = row->count(L2Counter::fabric_read_miss);
    if (!dram || *dram == 0 || !fabric_miss) continue;
    shares.push_back(double(*fabric_miss) / double(*dram));
  }
  if (shares.empty()) return;
  figures.push_back({"far_first_share", median(shares), "1",
                     "fabric misses / DRAM reads of cold passes that every SM reads, median of " +
                         std::to_string(shares.size())});
}

void add_coalescing(std::vector<Figure>& figures, const std::vector<StreamRow>& rows) {
  std::vector<double> shares;
  for (const bool reversed : {false, true}) {
    for (const std::string_view range : {"p1", "p2"}) {
      for (const StreamRow* row : rows_of(rows, {StreamShape::all, reversed, range})) {
        const auto l2 = row->count(L2Counter::l2_read);
        const auto sm = row->count(L2Counter::sm_read);
        if (l2 && sm && *sm > 0) shares.push_back(double(*l2) / double(*sm));
      }
    }
  }
  if (shares.empty()) return;
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  const std::string how = "reads that reach L2 / sectors that SMs receive, over " +
                          std::to_string(shares.size()) + " passes that every SM reads";
  figures.push_back({"coalescer_all_low", *low, "1", "least of " + how});
  figures.push_back({"coalescer_all_high", *high, "1", "largest of " + how});
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

void write_figures_csv(std::ostream& out, const std::vector<Figure>& figures) {
  out << "name,value,unit,how\n";
  for (const Figure& figure : figures) {
    out << figure.name << ',' << figure.value << ',' << figure.unit << ",\"" << figure.how
        << "\"\n";
  }
}

const Figure* find_figure(const std::vector<Figure>& figures, std::string_view name) {
  for (const Figure& figure : figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

namespace {

class Profile {
 public:
  void parameter(std::string_view key, const std::string& value, const std::string& note) {
    text_ << key << " = " << value << "; measured; " << note << "\n";
  }

  /// The figure `name` times `factor`, as a whole number of `unit` when `whole`.
  void figure(const std::vector<Figure>& figures, std::string_view key, std::string_view name,
              double factor = 1) {
    const Figure* found = find_figure(figures, name);
    if (found == nullptr) return;
    parameter(key, std::to_string(std::llround(found->value * factor)), found->how);
  }

  std::ostringstream& text() { return text_; }

 private:
  std::ostringstream text_;
};

}  // namespace

std::string gpu_profile_ini(const MeasuredGpu& gpu, const std::vector<Figure>& figures) {
  Profile profile;
  profile.text() << "# Written by `sawtooth calibrate`; " << gpu.how << "\n"
                 << "# Ways of L2 cannot be told from these streams: sets are hashed.\n\n"
                 << "[gpu]\ndescription = " << gpu.description << "\n";
  profile.parameter("sms", std::to_string(gpu.sms), "cudaDevAttrMultiProcessorCount");
  profile.parameter("l2-bytes", std::to_string(gpu.l2_bytes), "cudaDevAttrL2CacheSize");
  profile.figure(figures, "l2-halves", "halves");
  profile.figure(figures, "dram-gb-per-s", "dram_read_bandwidth");
  profile.figure(figures, "l2-gb-per-s", "l2_bandwidth");
  profile.figure(figures, "latency-near-ns", "latency_near_ns");
  profile.figure(figures, "latency-far-ns", "latency_far_ns");
  profile.figure(figures, "latency-dram-ns", "latency_dram_ns");
  if (gpu.max_sm_clock_mhz != "unknown") {
    profile.parameter("sm-clock-mhz", gpu.max_sm_clock_mhz, "NVML's largest SM clock");
  }
  profile.parameter("shared-memory-block-bytes", std::to_string(gpu.shared_memory_block_bytes),
                    "cudaDevAttrMaxSharedMemoryPerBlockOptin");
  return profile.text().str();
}

}  // namespace sawtooth::experiments
