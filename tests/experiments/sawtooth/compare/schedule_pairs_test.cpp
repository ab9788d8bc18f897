#include "experiments/sawtooth/compare/schedule_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/property.hpp"

namespace sawtooth::experiments {
namespace {

// The later of two points is `a`.
PairCounts counted_one_by_one(const std::vector<SchedulePoint>& points) {
  PairCounts counts;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto &a = points[i], &b = points[j];
      if (std::min(a.measured, b.measured) <= 0) continue;
      const double measured = a.measured / b.measured;
      if (measured <= 1.1 && 1 / measured <= 1.1) continue;
      ++counts.pairs;
      if ((a.measured - b.measured) * (a.predicted - b.predicted) > 0) ++counts.right_order;
      if (b.predicted > 0 && std::abs(a.predicted / b.predicted / measured - 1) <= 0.1)
        ++counts.right_size;
    }
  }
  return counts;
}

RC_GTEST_PROP(SchedulePairs, AreThoseOfACountOneByOne, (uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> logarithm(0, 2);
  std::vector<SchedulePoint> points(random() % 300);
  for (SchedulePoint& point : points) {
    point.measured = std::exp(logarithm(random));
    point.predicted = point.measured * std::exp(logarithm(random) / 10);
    // Equal values, and zeros, are where an order is not strict.
    if (random() % 4 == 0) point.predicted = double(random() % 3);
    if (random() % 4 == 0) point.measured = double(random() % 3);
  }
  const PairCounts counts = count_pairs(points), expected = counted_one_by_one(points);
  RC_ASSERT(counts.pairs == expected.pairs);
  RC_ASSERT(counts.right_order == expected.right_order);
  RC_ASSERT(counts.right_size == expected.right_size);
}

}  // namespace
}  // namespace sawtooth::experiments
