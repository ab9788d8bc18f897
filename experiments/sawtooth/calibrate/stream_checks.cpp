#include "experiments/sawtooth/calibrate/stream_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <tuple>

#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;

/// Keeps the worst of many deviations and the point that it came from.
class Worst {
 public:
  Worst(std::string name, std::string what) : name_(std::move(name)), what_(std::move(what)) {}

  /// `excess` is the deviation in units of its tolerance: above 1 fails.
  void add(const StreamRow& row, double deviation, double tolerance) {
    ++count_;
    const double excess = deviation / tolerance;
    if (excess > 1) ++failed_;
    if (excess <= excess_) return;
    excess_ = excess;
    char text[160];
    std::snprintf(text, sizeof text, "worst %.5f of %.5f allowed at %s %s %lld MiB %s %s",
                  deviation, tolerance,
                  kernels::stream_access_names[static_cast<size_t>(row.point.access)].data(),
                  stream_shape_names[static_cast<size_t>(row.point.shape)].data(),
                  static_cast<long long>(row.point.mib), row.point.reversed ? "reversed" : "linear",
                  row.range.c_str());
    where_ = text;
  }

  /// Nothing to check is a failure too: a check that saw no row has shown nothing.
  CheckLine line() const {
    if (count_ == 0) return {name_, false, what_ + ": no rows"};
    return {name_, failed_ == 0,
            what_ + ": " + std::to_string(count_ - failed_) + " of " + std::to_string(count_) +
                " within; " + where_};
  }

 private:
  std::string name_;
  std::string what_;
  std::string where_;
  int count_ = 0;
  int failed_ = 0;
  double excess_ = -1;
};

bool reads(const StreamRow& row) {
  return row.point.access != kernels::StreamAccess::write;
}

/// What deviations are shares of: DRAM reads where there are many, else the buffer.
double scale_of(const StreamRow& row, double dram) {
  const auto buffer = double(row.buffer_sectors);
  return dram > 0.05 * buffer ? dram : buffer;
}

/// What terms from different replay passes may be off by on the cliff (lookups, hits and misses
/// never share a pass): how far the DRAM reads of the passes lie apart, once for each of the two
/// terms, near misses and fabric reads, that come from passes of their own.
double pass_drift(const StreamRow& row) {
  if (row.dram_read_by_pass.empty()) return 0;
  const auto [low, high] =
      std::minmax_element(row.dram_read_by_pass.begin(), row.dram_read_by_pass.end());
  return 2 * double(*high - *low);
}

using Key = std::tuple<int, int, bool, int64_t, std::string>;
Key key_of(const StreamRow& row) {
  return {static_cast<int>(row.point.access), static_cast<int>(row.point.shape), row.point.reversed,
          row.point.mib, row.range};
}

/// 8 MiB of 60.
bool is_small(const StreamRow& row, int64_t l2_bytes) {
  return double(row.point.mib) * mib_bytes <= double(l2_bytes) * 2 / 15;
}

bool on_cliff(const StreamRow& row, int64_t l2_bytes) {
  const double share = double(row.point.mib) * mib_bytes / double(l2_bytes);
  return share > 0.45 && share < 0.81;  // 28 to 48 MiB of 60
}

}  // namespace

// DRAM is counted in every replay pass, each after a flush of its own, so every pass of every
// repetition is one cold read. Other units read 400 to 2200 sectors meanwhile (code, page tables),
// which passes 0.005 of a small buffer now and then: there the median is judged.
CheckLine check_cold_is_compulsory(const std::vector<StreamRow>& rows, int64_t l2_bytes) {
  std::map<Key, std::pair<const StreamRow*, std::vector<double>>> small_reads;
  Worst worst("cold",
              "DRAM sectors of a first read / compulsory sectors - 1, every pass; the median for "
              "buffers up to 2/15 of L2");
  for (const StreamRow& row : rows) {
    if (row.range != "p1" || !reads(row)) continue;
    std::vector<int64_t> passes = row.dram_read_by_pass;
    const auto only = dram_reads(row);  // tables of others have one number a repetition
    if (passes.empty() && only) passes.push_back(*only);
    for (const int64_t dram : passes) {
      const double share = double(dram) / double(row.buffer_sectors);
      if (is_small(row, l2_bytes)) {
        auto& [first, shares] = small_reads[key_of(row)];
        if (first == nullptr) first = &row;
        shares.push_back(share);
      } else {
        worst.add(row, std::abs(share - 1), 0.005);
      }
    }
  }
  for (auto& [key, point] : small_reads) {
    auto& [first, shares] = point;
    const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
    std::nth_element(shares.begin(), middle, shares.end());
    worst.add(*first, std::abs(*middle - 1), 0.005);
  }
  return worst.line();
}

CheckLine check_hot_is_free(const std::vector<StreamRow>& rows, int64_t l2_bytes) {
  Worst worst("hot", "DRAM sectors of a second read of a small buffer / its sectors");
  for (const StreamRow& row : rows) {
    const auto dram = dram_reads(row);
    const bool same = row.point.shape == StreamShape::same;
    if (row.range != "p2" || !reads(row) || !dram || !is_small(row, l2_bytes) || !same) continue;
    worst.add(row, double(*dram) / double(row.buffer_sectors), 0.001);
  }
  return worst.line();
}

CheckLine check_dram_identity(const std::vector<StreamRow>& rows, int64_t l2_bytes) {
  Worst worst("identity", "|DRAM - (near misses - fabric reads + fabric misses)| / DRAM or buffer");
  for (const StreamRow& row : rows) {
    const auto dram = dram_reads(row);
    const auto miss = row.count(L2Counter::l2_read_miss);
    if (!reads(row) || !dram || !miss) continue;
    const double expected = double(*miss - row.count(L2Counter::fabric_read).value_or(0) +
                                   row.count(L2Counter::fabric_read_miss).value_or(0));
    const double scale = scale_of(row, double(*dram));
    const double drift = on_cliff(row, l2_bytes) ? pass_drift(row) : 0;
    worst.add(row, std::abs(double(*dram) - expected) / scale, 0.01 + drift / scale);
  }
  return worst.line();
}

// Fills are counted in one of the replay passes; the DRAM reads of that pass are among those of
// all.
CheckLine check_fills(const std::vector<StreamRow>& rows) {
  Worst worst("fills", "|fills from device memory - DRAM reads of the same pass| / DRAM or buffer");
  for (const StreamRow& row : rows) {
    const auto dram = row.count(L2Counter::dram_read);
    const auto fill = row.count(L2Counter::fill_device);
    if (!reads(row) || !dram || !fill) continue;
    double off = std::abs(double(*dram - *fill));
    for (const int64_t pass : row.dram_read_by_pass) {
      off = std::min(off, std::abs(double(pass - *fill)));
    }
    worst.add(row, off / scale_of(row, double(*dram)), 0.01);
  }
  return worst.line();
}

// Each SM also reads its launch parameters and its rank: 264 sectors on 132 SMs, in every stream.
constexpr double own_sectors = 512;

CheckLine check_sm_sectors(const std::vector<StreamRow>& rows) {
  Worst worst("sm-sectors", "sectors that SMs received - sectors asked for");
  for (const StreamRow& row : rows) {
    const auto received = row.count(L2Counter::sm_read);
    if (!reads(row) || !received) continue;
    worst.add(row, std::abs(double(*received - row.expected_sectors)), own_sectors);
  }
  return worst.line();
}

CheckLine check_repeats(const std::vector<StreamRow>& rows, int64_t l2_bytes) {
  struct Readings {
    const StreamRow* row;
    std::vector<int64_t> dram;
  };
  std::map<Key, Readings> points;
  for (const StreamRow& row : rows) {
    if (row.dram_read_by_pass.empty()) continue;
    std::vector<int64_t>& dram =
        points.try_emplace(key_of(row), Readings{&row, {}}).first->second.dram;
    dram.insert(dram.end(), row.dram_read_by_pass.begin(), row.dram_read_by_pass.end());
  }
  Worst worst("repeats", "spread of DRAM sectors over repetitions and passes / sectors");
  for (auto& [key, readings] : points) {
    std::vector<int64_t>& dram = readings.dram;
    std::sort(dram.begin(), dram.end());
    const size_t outliers = dram.size() / 10;
    const int64_t spread = dram[dram.size() - 1 - outliers] - dram[outliers];
    worst.add(*readings.row, double(spread) / double(readings.row->buffer_sectors),
              on_cliff(*readings.row, l2_bytes) ? 0.06 : 0.01);
  }
  return worst.line();
}

std::vector<CheckLine> check_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes) {
  std::vector<CheckLine> checks{
      check_cold_is_compulsory(rows, l2_bytes), check_hot_is_free(rows, l2_bytes),
      check_dram_identity(rows, l2_bytes), check_sm_sectors(rows), check_repeats(rows, l2_bytes)};
  const bool counts_dram = std::any_of(rows.begin(), rows.end(), [](const StreamRow& row) {
    return row.count(L2Counter::dram_read).has_value();
  });
  // Where fills stand for DRAM reads there is nothing to hold them against.
  if (counts_dram || rows.empty()) checks.push_back(check_fills(rows));
  return checks;
}

bool print_checks(std::ostream& out, const std::vector<CheckLine>& checks) {
  bool passed = true;
  for (const CheckLine& check : checks) {
    out << (check.passed ? "PASS " : "FAIL ") << check.name << ": " << check.detail << '\n';
    passed = passed && check.passed;
  }
  return passed;
}

}  // namespace sawtooth::experiments
