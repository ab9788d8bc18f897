// The one median and the one quantile of this program.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

/// The value below which `share` of the sorted values lie, linearly between neighbours (type 7 of
/// Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996). At least one value.
inline double quantile_of(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Of an even number the mean of the two in the middle.
inline double median_of(std::vector<double> values) {
  constexpr double half = 0.5;
  return quantile_of(std::move(values), half);
}

}  // namespace sawtooth::experiments
