#include "experiments/sawtooth/calibrate/stream_readings.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "experiments/sawtooth/support/statistics.hpp"

namespace sawtooth::experiments {
namespace {

using cupti::L2Counter;

constexpr double low_share = 0.05;
constexpr double high_share = 0.95;

bool same_point(const StreamRow& a, const StreamRow& b) {
  return a.point.access == b.point.access && a.point.shape == b.point.shape &&
         a.point.reversed == b.point.reversed && a.point.mib == b.point.mib && a.range == b.range;
}

bool is_reading(const StreamRow& row) {
  return row.point.access != kernels::StreamAccess::write && row.point.shape != StreamShape::one;
}

/// The share `of` of `repetitions` is below the value, the counter as a share of the buffer.
double quantile(const std::vector<const StreamRow*>& repetitions, L2Counter counter, double of) {
  std::vector<double> shares;
  for (const StreamRow* row : repetitions) {
    const auto count = row->count(counter);
    if (!count) {
      throw std::invalid_argument(name_of(row->point) + " has no " +
                                  std::string(cupti::column_of(counter)) +
                                  "; two halves need near misses, fabric reads and misses, DRAM");
    }
    shares.push_back(double(*count) / double(row->buffer_sectors));
  }
  return quantile_of(std::move(shares), of);
}

StreamShares quantiles(const std::vector<const StreamRow*>& repetitions, double of) {
  return {quantile(repetitions, L2Counter::dram_read, of),
          quantile(repetitions, L2Counter::l2_read_miss, of),
          quantile(repetitions, L2Counter::fabric_read, of),
          quantile(repetitions, L2Counter::fabric_read_miss, of)};
}

std::optional<double> passed_share(const std::vector<const StreamRow*>& repetitions) {
  std::vector<double> shares;
  for (const StreamRow* row : repetitions) {
    const auto l2 = row->count(L2Counter::l2_read);
    if (!l2 || row->expected_sectors == 0) return std::nullopt;
    shares.push_back(double(*l2) / double(row->expected_sectors));
  }
  return quantile_of(std::move(shares), 0.5);
}

}  // namespace

std::vector<StreamReading> stream_readings(const std::vector<StreamRow>& rows) {
  std::vector<std::vector<const StreamRow*>> points;
  for (const StreamRow& row : rows) {
    if (!is_reading(row)) continue;
    const auto known = std::find_if(points.begin(), points.end(), [&](const auto& repetitions) {
      return same_point(*repetitions.front(), row);
    });
    if (known == points.end()) {
      points.push_back({&row});
    } else {
      known->push_back(&row);
    }
  }
  std::vector<StreamReading> readings;
  for (const auto& repetitions : points) {
    const StreamRow& row = *repetitions.front();
    readings.push_back({row.point, row.range == "p2", quantiles(repetitions, 0.5),
                        quantiles(repetitions, low_share), quantiles(repetitions, high_share),
                        passed_share(repetitions)});
  }
  return readings;
}

StreamShares stream_tolerances(const StreamPoint& point, int64_t l2_bytes) {
  const double share = double(point.mib << 20) / double(l2_bytes);
  const bool cliff = share > 0.45 && share < 0.81;
  return {cliff ? 0.06 : 0.02, 0.03, 0.03, 0.03};
}

std::string name_of(const StreamPoint& point) {
  return std::string(kernels::stream_access_names[static_cast<size_t>(point.access)]) + " " +
         std::string(stream_shape_names[static_cast<size_t>(point.shape)]) +
         (point.reversed ? " reversed " : " linear ") + std::to_string(point.mib) + " MiB";
}

}  // namespace sawtooth::experiments
