#include <limits>

#include <gtest/gtest.h>

#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"

namespace sawtooth::cupti {
namespace {

RangeReading two_passes() {
  return {"p1",
          {{"dram.sum", 100, 0}, {"miss.sum", 40, 0}, {"dram.sum", 101, 1}, {"hit.pct", 12.5, 1}}};
}

TEST(RangeReading, ACountIsTheExactIntegerOfTheFirstPassThatCollectedIt) {
  EXPECT_EQ(two_passes().count("miss.sum"), 40);
  EXPECT_EQ(two_passes().count("dram.sum"), 100);
}

TEST(RangeReading, WitnessesShowEveryPass) {
  EXPECT_EQ(two_passes().counts_by_pass("dram.sum"), (std::vector<int64_t>{100, 101}));
}

TEST(RangeReading, AMetricThatWasNotCollectedIsEmptyAndNotZero) {
  EXPECT_EQ(two_passes().count("fabric.sum"), std::nullopt);
  EXPECT_TRUE(two_passes().counts_by_pass("fabric.sum").empty());
}

TEST(RangeReading, ARatioIsNoCount) {
  EXPECT_THROW(two_passes().count("hit.pct"), CounterError);
}

// 2^53 - 1 is the largest integer whose neighbours are all exact in a double; NaN is no count.
TEST(RangeReading, ValuesThatADoubleCannotCountExactlyAreRefused) {
  const double largest = 9007199254740991.0;
  RangeReading reading{"p1",
                       {{"a.sum", largest, 0},
                        {"b.sum", largest + 1, 0},
                        {"c.sum", std::numeric_limits<double>::quiet_NaN(), 0}}};
  EXPECT_EQ(reading.count("a.sum"), 9007199254740991);
  EXPECT_THROW(reading.count("b.sum"), CounterError);
  EXPECT_THROW(reading.count("c.sum"), CounterError);
}

}  // namespace
}  // namespace sawtooth::cupti
