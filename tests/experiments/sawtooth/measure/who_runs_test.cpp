// What the simulator, `measure` and the kernels' API take, each by itself: the table of their
// differences (docs/guide/troubleshooting.md).
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/measure/small_point.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::AttentionForward;
using test::Options;

struct Case {
  const char* what;
  Options options;                                // of the program, beside those of every case
  std::function<void(AttentionForward&)> change;  // the same for the API
  bool simulated, measured, by_api;
};

// 256 keys are 4 tiles of 64.
const Case cases[] = {
    {"a plain problem", {}, [](AttentionForward&) {}, true, true, true},
    {"more parts than K/V tiles: some are empty",
     {{"kv-split", "5"}},
     [](AttentionForward& call) { call.schedule.kv_split = 5; },
     false,
     false,
     true},
    {"balanced with parts: nothing is cut, as static",
     {{"launch", "balanced"}, {"kv-split", "2"}},
     [](AttentionForward& call) {
       call.schedule.launch = launch_id<BalancedLaunch>;
       call.schedule.kv_split = 2;
     },
     false,
     false,
     true},
    {"balanced in kernels that merge no pieces",
     {{"launch", "balanced"}},
     [](AttentionForward& call) { call.schedule.launch = launch_id<BalancedLaunch>; },
     true,
     false,
     false},
    {"fp32 by another family than mma-fp32",
     {{"dtype", "fp32"}, {"kernel", "mma"}},
     [](AttentionForward& call) { call.problem.dtype = ElementType::fp32; },
     true,
     false,
     false},
    {"K/V outer",
     {{"loop", "kv-outer"}},
     [](AttentionForward& call) { call.schedule.loop = Loop::kv_outer; },
     true,
     false,
     false},
    {"a head dim without a kernel",
     {{"head-dim", "72"}},
     [](AttentionForward& call) { call.problem.head_dim = 72; },
     true,
     false,
     false},
    {"a tile without a kernel",
     {{"tile-q", "48"}},
     [](AttentionForward& call) { call.tiling.q_rows = 48; },
     true,
     false,
     false},
    {"tiles that share a line",
     {{"head-dim", "40"}, {"tile-q", "10"}},
     [](AttentionForward& call) {
       call.problem.head_dim = 40;
       call.tiling.q_rows = 10;
     },
     false,
     false,
     false},
};

Point point_of(const Case& one) {
  return test::small_point(one.options);
}

/// Whether `work` ends without a UsageError.
template <class Work>
bool is_taken(const Work& work) {
  try {
    work();
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

TEST(WhoRuns, WhatSimulatorMeasureAndApiTake) {
  alignas(16) static char memory[16];
  for (const Case& one : cases) {
    EXPECT_EQ(is_taken([&] { point_of(one); }), one.simulated) << one.what;
    EXPECT_EQ(is_taken([&] { attention_call(point_of(one)); }), one.measured) << one.what;
    AttentionForward call;
    call.problem = {.seq_q = 256, .seq_kv = 256, .head_dim = 64};
    call.tiling = {64, 64};
    call.family = "mma";
    call.schedule = {.workers = 3};
    call.q = call.k = call.v = call.o = memory;
    one.change(call);
    EXPECT_EQ(bool(kernels::check(call)), one.by_api) << one.what << check(call).message;
  }
}

}  // namespace
}  // namespace sawtooth::experiments
