// The one median and the one quantile of this program.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

/// The value below which `share` of the values lie, linearly between neighbours (type 7 of
/// Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996).
/// Throws std::invalid_argument where there is none.
inline double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) throw std::invalid_argument("has no value to take a median or quantile of");
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

inline constexpr double ninety_share = 0.9;
/// The least of at least one value that `share` of them are not above.
inline double nearest_rank(std::vector<double> values, double share) {
  const auto place = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto found = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(place, 1) - 1);
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

inline constexpr double median_share = 0.5;
/// The median of an even number of values is the mean of the two in the middle.
inline double median_of(std::vector<double> values) {
  return quantile_of(std::move(values), median_share);
}

}  // namespace sawtooth::experiments
