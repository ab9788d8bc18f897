#include "sim/halves/streams.hpp"

#include <gtest/gtest.h>

namespace sawtooth::sim {
namespace {

// With sets and skews off: same keeps 4/3 of a half's lines (half of the lines live twice) and
// the linear pass over a buffer beyond that misses everything.
TEST(Streams, SharpHalvesHaveTheCliffOfTheClosedForm) {
  HalvesParameters parameters;
  parameters.capacity_lines = int64_t{30} << 13;
  const auto dram = [&](StreamMap map, bool reversed, int64_t mib) {
    const auto second = simulate_stream({map, reversed, mib << 20}, {}, parameters).second;
    return double(*second.dram_read_sectors) / (double(mib) * 32768);
  };
  EXPECT_EQ(dram(StreamMap::all, false, 30), 0);
  EXPECT_EQ(dram(StreamMap::all, false, 31), 1);
  EXPECT_NEAR(dram(StreamMap::all, true, 60), 0.5, 0.001);
  EXPECT_EQ(dram(StreamMap::same, false, 39), 0);
  EXPECT_NEAR(dram(StreamMap::same, true, 80), 0.5, 0.01);
}

TEST(Streams, AnEmptyBufferIsRefused) {
  EXPECT_THROW(simulate_stream({}, {}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
