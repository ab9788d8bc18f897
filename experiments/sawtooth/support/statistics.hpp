// The one median and the one quantile of this program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

/// Where the value below which `share` of `count` sorted values lie is found among them, linearly
/// between neighbours (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages",
/// 1996). At least one value.
class QuantilePlace {
 public:
  QuantilePlace(size_t count, double share) {
    const double place = share * static_cast<double>(count - 1);
    below_ = static_cast<size_t>(place);
    above_ = std::min(below_ + 1, count - 1);
    between_ = place - static_cast<double>(below_);
  }
  size_t below() const { return below_; }
  size_t above() const { return above_; }
  /// From the values at these two places.
  double value(double below, double above) const { return below + between_ * (above - below); }

 private:
  size_t below_, above_;
  double between_;
};

inline double quantile_of(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const QuantilePlace place(values.size(), share);
  return place.value(values[place.below()], values[place.above()]);
}

inline constexpr double median_share = 0.5;
/// Of an even number the mean of the two in the middle.
inline double median_of(std::vector<double> values) {
  return quantile_of(std::move(values), median_share);
}

}  // namespace sawtooth::experiments
