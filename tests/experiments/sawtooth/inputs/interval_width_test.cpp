#include <cmath>

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/profiles.hpp"

namespace sawtooth::experiments {
namespace {

const IntervalWidth width{"time_us", {0.2, 0.3, 0.4, 0.5}, 0.03, 5};

TEST(IntervalWidth, OfOneLaunchIsAConstantOfTheKindOfPoint) {
  EXPECT_EQ(width.half_width({1}, PointKind::within), 0.2);
  EXPECT_EQ(width.half_width({1000}, PointKind::within), 0.2);
  EXPECT_EQ(width.half_width({1}, PointKind::in_step), 0.3);
  EXPECT_EQ(width.half_width({1}, PointKind::apart), 0.4);
  EXPECT_EQ(width.half_width({1}, PointKind::drifting), 0.5);
}

// Two values that are exp(0.08) apart have a standard deviation of 0.08 / sqrt(2) in the logarithm.
TEST(IntervalWidth, OfSeveralLaunchesGrowsWithTheirSpread) {
  for (const PointKind kind : {PointKind::within, PointKind::drifting}) {
    EXPECT_DOUBLE_EQ(width.half_width({7, 7}, kind), 5 * 0.03);
    EXPECT_NEAR(width.half_width({100, 100 * std::exp(0.08)}, kind),
                5 * std::sqrt(0.08 * 0.08 / 2 + 0.03 * 0.03), 1e-12);
    // Logarithms -a, 0 and a: a.
    EXPECT_NEAR(width.half_width({std::exp(-0.04), 1, std::exp(0.04)}, kind), 5 * 0.05, 1e-12);
  }
}

// Launches on one card agree, and cards differ.
TEST(IntervalWidth, OfATimeIsNoNarrowerForSeveralLaunches) {
  EXPECT_EQ(width.half_width_of_time({100}, 100), 0.2);
  EXPECT_EQ(width.half_width_of_time({100, 100}, 100), 0.2);
  EXPECT_EQ(width.half_width_of_time({500, 500}, 500), 0.3);
  EXPECT_NEAR(width.half_width_of_time({100, 100 * std::exp(0.8)}, 100),
              5 * std::sqrt(0.8 * 0.8 / 2 + 0.03 * 0.03), 1e-12);
}

}  // namespace
}  // namespace sawtooth::experiments
