#include "experiments/sawtooth/calibrate/stream_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
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

// Checks of the counters.

namespace {

using cupti::L2Counter;

/// Keeps the worst of many deviations and the point that it came from.
class Worst {
 public:
  void add(const StreamRow& row, double deviation, double tolerance) {
    ++count_;
    const double excess = deviation / tolerance;
    if (excess > 1) ++failed_;
    if (excess <= excess_) return;
    excess_ = excess;
    char text[80];
    std::snprintf(text, sizeof text, "worst %.5f of %.5f allowed at ", deviation, tolerance);
    where_ = text + name_of(row.point) + " " + row.range;
  }

  /// `stray_share` of the rows may lie outside.
  CheckLine line(const std::string& name, const std::string& what, double stray_share) const {
    if (count_ == 0) return {name, false, what + ": no rows"};
    return {name, failed_ <= stray_share * count_,
            what + ": " + std::to_string(count_ - failed_) + " of " + std::to_string(count_) +
                " within; " + where_};
  }

 private:
  std::string where_;
  int count_ = 0, failed_ = 0;
  double excess_ = -1;
};

constexpr double small_share = 2.0 / 15;  // 8 MiB of 60
bool is_small(const StreamRow& row, int64_t l2_bytes) {
  return row.point.share_of(l2_bytes) <= small_share;
}

/// What deviations are shares of: DRAM reads where there are many, else the buffer.
double scale_of(const StreamRow& row, int64_t dram) {
  return row.share(dram) > 0.05 ? double(dram) : double(row.buffer_sectors);
}

/// Lookups, hits and misses never share a replay pass: near misses and fabric reads each come from
/// one of their own.
double pass_drift(const StreamRow& row) {
  if (row.dram_read_by_pass.empty()) return 0;
  const auto [low, high] = std::ranges::minmax(row.dram_read_by_pass);
  return 2 * double(high - low);
}

// DRAM is counted in every replay pass, each after a flush of its own, so every pass of every
// repetition is one cold read.
void check_cold(const Repetitions& repetitions, int64_t l2_bytes, Worst& worst) {
  constexpr double tolerance = 0.005;
  std::vector<double> small;
  for (const StreamRow* row : repetitions) {
    std::vector<int64_t> passes = row->dram_read_by_pass;
    const auto only = dram_reads(*row);  // tables of others have one number a repetition
    if (row->range != "p1") return;
    if (passes.empty() && only) passes.push_back(*only);
    for (const int64_t dram : passes) {
      if (is_small(*row, l2_bytes))
        small.push_back(row->share(dram));
      else
        worst.add(*row, std::abs(row->share(dram) - 1), tolerance);
    }
  }
  if (!small.empty())
    worst.add(*repetitions.front(), std::abs(median_of(std::move(small)) - 1), tolerance);
}

void check_hot(const Repetitions& repetitions, int64_t l2_bytes, Worst& worst) {
  for (const StreamRow* row : repetitions) {
    const auto dram = dram_reads(*row);
    const bool same = row->point.shape == StreamShape::same && row->range == "p2";
    if (same && dram && is_small(*row, l2_bytes)) worst.add(*row, row->share(*dram), 0.001);
  }
}

void check_identity(const Repetitions& repetitions, int64_t l2_bytes, Worst& worst) {
  for (const StreamRow* row : repetitions) {
    const auto dram = dram_reads(*row), miss = row->count(L2Counter::l2_read_miss);
    if (!dram || !miss) continue;
    const int64_t expected = *miss - row->count(L2Counter::fabric_read).value_or(0) +
                             row->count(L2Counter::fabric_read_miss).value_or(0);
    const double scale = scale_of(*row, *dram);
    const double drift = on_cliff(row->point, l2_bytes) ? pass_drift(*row) : 0;
    worst.add(*row, double(std::abs(*dram - expected)) / scale, 0.01 + drift / scale);
  }
}

// Fills are counted in one of the replay passes; the DRAM reads of that pass are among those of
// all.
void check_fills(const Repetitions& repetitions, int64_t, Worst& worst) {
  for (const StreamRow* row : repetitions) {
    const auto dram = row->count(L2Counter::dram_read), fill = row->count(L2Counter::fill_device);
    if (!dram || !fill) continue;
    int64_t off = std::abs(*dram - *fill);
    for (const int64_t pass : row->dram_read_by_pass) off = std::min(off, std::abs(pass - *fill));
    worst.add(*row, double(off) / scale_of(*row, *dram), 0.01);
  }
}

void check_sm_sectors(const Repetitions& repetitions, int64_t, Worst& worst) {
  constexpr double own_sectors = 512;
  for (const StreamRow* row : repetitions)
    if (const auto received = row->count(L2Counter::sm_read))
      worst.add(*row, double(std::abs(*received - row->expected_sectors)), own_sectors);
}

void check_repeats(const Repetitions& repetitions, int64_t l2_bytes, Worst& worst) {
  std::vector<int64_t> dram;
  for (const StreamRow* row : repetitions)
    dram.insert(dram.end(), row->dram_read_by_pass.begin(), row->dram_read_by_pass.end());
  if (dram.empty()) return;
  std::ranges::sort(dram);
  const size_t outliers = dram.size() / 10;
  const StreamRow& row = *repetitions.front();
  worst.add(row, row.share(dram[dram.size() - 1 - outliers] - dram[outliers]),
            on_cliff(row.point, l2_bytes) ? 0.06 : 0.02);
}

struct Check {
  const char* name;
  const char* what;
  void (*add)(const Repetitions&, int64_t l2_bytes, Worst&);
  bool writes = false;  // looks at streams that write, too
  double stray_share = 0;
};
// A pass of a stream is disturbed at times, for there is work beside ours: on four H200s 1 of 1,120
// rows spread by 0.029, and 1 of 504 identities was off by 0.021.
constexpr double strays = 0.01;
constexpr auto checks = std::to_array<Check>({
    {"cold",
     "DRAM sectors of a first read / compulsory sectors - 1, every pass; the median for buffers up "
     "to 2/15 of L2",
     check_cold},
    {"hot", "DRAM sectors of a second read of a small buffer / its sectors", check_hot},
    {"identity", "|DRAM - (near misses - fabric reads + fabric misses)| / DRAM or buffer",
     check_identity, false, strays},
    {"sm-sectors", "sectors that SMs received - sectors asked for", check_sm_sectors},
    {"repeats", "spread of DRAM sectors over repetitions and passes / sectors", check_repeats, true,
     strays},
    {"fills", "|fills from device memory - DRAM reads of the same pass| / DRAM or buffer",
     check_fills},
});

}  // namespace

std::vector<CheckLine> check_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes,
                                     std::string_view name) {
  const std::vector<Repetitions> points = repetitions_of(rows);
  const bool fills_stand_for_dram = !rows.empty() && std::ranges::none_of(rows, [](auto& row) {
    return row.count(L2Counter::dram_read).has_value();
  });
  std::vector<CheckLine> lines;
  for (const Check& check : checks) {
    if (!name.empty() && name != check.name) continue;
    if (check.add == check_fills && fills_stand_for_dram) continue;
    Worst worst;
    for (const Repetitions& repetitions : points)
      if (check.writes || repetitions.front()->reads()) check.add(repetitions, l2_bytes, worst);
    lines.push_back(worst.line(check.name, check.what, check.stray_share));
  }
  return lines;
}

std::string checks_text(const std::vector<CheckLine>& lines) {
  std::string text;
  for (const CheckLine& line : lines)
    text += (line.passed ? "PASS " : "FAIL ") + line.name + ": " + line.detail + '\n';
  return text;
}

bool all_passed(const std::vector<CheckLine>& lines) {
  return std::ranges::all_of(lines, &CheckLine::passed);
}

}  // namespace sawtooth::experiments
