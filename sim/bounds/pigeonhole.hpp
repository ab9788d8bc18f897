// What the busiest of several workers has at least, whoever gets what.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "scheduler/integer_math.hpp"

namespace sawtooth::sim {

/// Of `values` from 0 on, shared out whole to `workers` >= 1: the mean of the workers, and for
/// every k the k + 1 least of the k * workers + 1 greatest, for some worker has k + 1 of these.
template <class Value>
Value busiest_worker(std::vector<Value> values, int64_t workers) {
  std::sort(values.begin(), values.end(), std::greater<>());
  std::vector<Value> sums{Value{0}};  // of the greatest
  for (const Value value : values) sums.push_back(sums.back() + value);
  const auto count = static_cast<int64_t>(values.size());
  if (count == 0) return Value{0};
  const Value all = sums.back();
  Value most{};
  if constexpr (std::is_integral_v<Value>) {
    most = ceil_div(all, min_of(workers, count));
  } else {
    most = all / Value(min_of(workers, count));
  }
  for (int64_t k = 0; k * workers < count; ++k) {
    const auto end = static_cast<size_t>(k * workers + 1);
    most = std::max(most, sums[end] - sums[end - static_cast<size_t>(k) - 1]);
  }
  return most;
}

}  // namespace sawtooth::sim
