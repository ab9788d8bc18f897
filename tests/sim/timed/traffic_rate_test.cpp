// Bytes a nanosecond of the last whole window.
#include "sim/timed/traffic_rate.hpp"

#include <gtest/gtest.h>

namespace sawtooth::sim {
namespace {

TEST(TrafficRate, IsThatOfTheLastWholeWindow) {
  TrafficRate rate(100);
  EXPECT_EQ(rate.bytes_a_ns(), 0);
  for (int ns = 0; ns < 100; ++ns) rate.add(ns, 3);
  EXPECT_EQ(rate.bytes_a_ns(), 0) << "the first window has not ended";
  rate.add(100, 5);
  EXPECT_DOUBLE_EQ(rate.bytes_a_ns(), 3);
  rate.add(350, 0);  // 5 bytes in 250 ns
  EXPECT_DOUBLE_EQ(rate.bytes_a_ns(), 0.02);
}

}  // namespace
}  // namespace sawtooth::sim
