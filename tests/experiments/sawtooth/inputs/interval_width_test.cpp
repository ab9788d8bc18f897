#include "experiments/sawtooth/inputs/interval_width.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace sawtooth::experiments {
namespace {

const IntervalWidth width{"time_us", 0.2, 0.03, 5};

TEST(IntervalWidth, OfOneLaunchIsAConstant) {
  EXPECT_EQ(width.half_width({1}), 0.2);
  EXPECT_EQ(width.half_width({1000}), 0.2);
}

// Two values that are exp(0.08) apart have a standard deviation of 0.08 / sqrt(2) in the logarithm.
TEST(IntervalWidth, OfSeveralLaunchesGrowsWithTheirSpread) {
  EXPECT_DOUBLE_EQ(width.half_width({7, 7}), 5 * 0.03);
  EXPECT_NEAR(width.half_width({100, 100 * std::exp(0.08)}),
              5 * std::sqrt(0.08 * 0.08 / 2 + 0.03 * 0.03), 1e-12);
  // Logarithms -a, 0 and a: a.
  EXPECT_NEAR(width.half_width({std::exp(-0.04), 1, std::exp(0.04)}), 5 * 0.05, 1e-12);
}

}  // namespace
}  // namespace sawtooth::experiments
