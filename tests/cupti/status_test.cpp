#include "cupti/status.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sawtooth::cupti
