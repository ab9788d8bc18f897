// What keeps counters from a program, and what a reading of them says.
#include "cupti/status.hpp"

#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/range_profiler.hpp"

namespace sawtooth::cupti {
namespace {

using ::testing::HasSubstr;

constexpr int last_status = static_cast<int>(Status::failed);

TEST(CounterStatus, EveryStatusHasANameOfItsOwnAndEveryFailureSaysHowToMendIt) {
  std::set<std::string_view> names;
  for (int i = 0; i <= last_status; ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_TRUE(names.insert(status_name(status)).second) << status_name(status);
    EXPECT_EQ(status_help(status).empty(), status == Status::ok) << status_name(status);
  }
}

// Codes as in cupti_result.h of CUDA 13.0.
TEST(CounterStatus, CuptiCodesBecomeTheReasonsThatAUserCanActOn) {
  EXPECT_EQ(status_of(0), Status::ok);
  EXPECT_EQ(status_of(15), Status::no_nvperf_host);
  EXPECT_EQ(status_of(23), Status::counters_busy);
  EXPECT_EQ(status_of(26), Status::counters_busy);
  EXPECT_EQ(status_of(27), Status::unsupported_device);
  EXPECT_EQ(status_of(33), Status::virtualized);
  EXPECT_EQ(status_of(35), Status::insufficient_privilege);
  EXPECT_EQ(status_of(39), Status::nested_profiler);
  EXPECT_EQ(status_of(40), Status::virtualized);
  EXPECT_EQ(status_of(41), Status::confidential_computing);
  EXPECT_EQ(status_of(43), Status::mig);
  EXPECT_EQ(status_of(45), Status::wsl);
  EXPECT_EQ(status_of(46), Status::chip_unknown);
  EXPECT_EQ(status_of(999), Status::failed);
}

TEST(CounterStatus, AnErrorTellsTheCallTheCureAndTheCode) {
  try {
    check(35, "cuptiRangeProfilerEnable");
    FAIL() << "code 35 is an error";
  } catch (const CounterError& error) {
    EXPECT_EQ(error.status(), Status::insufficient_privilege);
    EXPECT_EQ(error.code(), 35);
    EXPECT_THAT(error.what(), HasSubstr("cuptiRangeProfilerEnable"));
    EXPECT_THAT(error.what(), HasSubstr("--cap-add=SYS_ADMIN"));
    EXPECT_THAT(error.what(), HasSubstr("CUPTI error 35"));
  }
  EXPECT_NO_THROW(check(0, "any call"));
}

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
