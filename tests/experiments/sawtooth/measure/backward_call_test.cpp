// Which backward points have a kernel of this build, and what they count: without a GPU.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "scheduler/schedule.hpp"
#include "tests/experiments/sawtooth/measure/small_point.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using testing::HasSubstr;

Point backward_point(test::Options options) {
  options.emplace_back("pass", "backward");
  return test::small_point(options);
}

TEST(BackwardCall, HasTheProblemAndScheduleOfItsPoint) {
  const Point point = backward_point({{"scan", "shift"}, {"launch", "dynamic"}, {"heads", "4"}});
  const AttentionCall call = attention_call(point);
  const auto& backward = std::get<kernels::AttentionBackward>(call);
  EXPECT_EQ(backward.problem.heads, 4);
  EXPECT_EQ(backward.schedule.scan, scan_id<ShiftScan>);
  EXPECT_EQ(backward.schedule.launch, launch_id<DynamicLaunch>);
  EXPECT_EQ(backward.family, "mma");
  EXPECT_EQ(variant_of(call).tiling.q_rows, 64);
}

TEST(BackwardCall, AddsUpDqAsItsPointSays) {
  for (const auto& [name, dq] : dq_names) {
    if (dq == Dq::ordered) continue;  // which the model of this point refuses
    const AttentionCall call = attention_call(backward_point({{"dq", std::string(name)}}));
    EXPECT_EQ(std::get<kernels::AttentionBackward>(call).schedule.dq, dq) << name;
  }
}

TEST(BackwardCall, IsRefusedWhereNoKernelRunsIt) {
  const auto refusal = [](const test::Options& options) {
    return test::message_of<UsageError>([&] { attention_call(backward_point(options)); });
  };
  EXPECT_THAT(refusal({{"head-dim", "256"}}), HasSubstr("head-dim"));
  EXPECT_THAT(refusal({{"tile-q", "128"}}), HasSubstr("tile 128x64"));
  EXPECT_THAT(refusal({{"kernel", "mma-tma"}}), HasSubstr("pass = backward"));
}

TEST(BackwardCall, CountsReductionsBesideWhatForwardCounts) {
  const auto forward = counters_of(Pass::forward), backward = counters_of(Pass::backward);
  EXPECT_EQ(backward.size(), forward.size() + 1);
  EXPECT_TRUE(std::ranges::equal(forward, backward.first(forward.size())));
  EXPECT_EQ(cupti::column_of(backward.back()), "l2_reduction_sectors");
}

}  // namespace
}  // namespace sawtooth::experiments
