// Calls that `measure` makes of points, and what the simulator, `measure` and the kernels' API
// take, each by itself: the table of their differences (docs/guide/troubleshooting.md).
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/attention/automatic.hpp"
#include "kernels/attention/choice.hpp"
#include "scheduler/schedule.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::AttentionForward;
using test::Options;
using testing::HasSubstr;

Point small_point(const Options& options) {
  return test::point_of(options, {{"seq", "256"},
                                  {"head-dim", "64"},
                                  {"tile-q", "64"},
                                  {"tile-kv", "64"},
                                  {"workers", "3"},
                                  {"l2-bytes", "1 MiB"}});
}

Point backward_point(Options options) {
  options.emplace_back("pass", "backward");
  return small_point(options);
}

TEST(PlainCall, IsPredictedAsTheApiTakesIt) {
  constexpr kernels::DeviceLimits h200{90, 227 * 1024, 132, 228 * 1024, 1024};
  const auto all = [](const Tiling& tile, const Schedule& made) {
    return std::tuple(tile.q_rows, tile.kv_rows, made.launch, made.scan, made.order.q_order,
                      made.order.section, made.workers);
  };
  Catalog catalog;
  for (const char* head_dim : {"32", "64", "96", "128", "192", "256"})
    for (const char* mask : {"none", "causal"})
      for (const char* seq : {"512", "2K", "4K", "16K", "64K"}) {
        const Settings given{{"gpu", {{"h200"}, {}}},
                             {"seq", {{seq}, {}}},
                             {"head-dim", {{head_dim}, {}}},
                             {"mask", {{mask}, {}}}};
        const Point point = resolve(given, catalog);
        AttentionForward call;
        call.problem = point.request.problem;
        const kernels::KernelVariant* chosen = nullptr;
        // Builds with few kernels have none for some of these.
        ASSERT_EQ(kernels::choose_variant(call, h200, chosen).message.empty(), point.plain_call)
            << head_dim << " " << mask << " " << seq;
        if (!point.plain_call) continue;
        EXPECT_EQ(chosen->family, point.keys.kernel);
        EXPECT_TRUE(all(point.request.tiling, point.request.schedule) ==
                    all(chosen->tiling,
                        kernels::complete_schedule(call.schedule, call.problem, *chosen, h200, 0)))
            << head_dim << " " << mask << " " << seq;
      }
}

TEST(PlainCall, UnderListsOfTilesRunsAKernelThatTakesThem) {
  constexpr kernels::DeviceLimits h200{90, 227 * 1024, 132, 228 * 1024, 1024};
  Catalog catalog;
  for (const char* head_dim : {"64", "128", "256"}) {
    const Settings given{{"gpu", {{"h200"}, {}}},
                         {"seq", {{"16K"}, {}}},
                         {"head-dim", {{head_dim}, {}}},
                         {"mask", {{"prefix-lm:1K"}, {}}}};
    const Point point = resolve(given, catalog);
    EXPECT_EQ(point.plain_call, std::string(head_dim) != "256");
    if (!point.plain_call) continue;
    const AttentionCall call = attention_call(point);
    EXPECT_NE(variant_of(call).listed_function, nullptr);
    EXPECT_EQ(std::get<AttentionForward>(call).family, point.keys.kernel);
    EXPECT_EQ(point.request.schedule.launch,
              kernels::complete_schedule(kernels::automatic_schedule, point.request.problem,
                                         variant_of(call), h200, 0)
                  .launch);
  }
}

TEST(ListedCall, IsRefusedWhereNoKernelTakesItsLists) {
  const auto refusal = [](const Options& options) {
    return test::message_of<UsageError>([&] { attention_call(small_point(options)); });
  };
  EXPECT_THAT(refusal({{"mask", "prefix-lm:8"}}),
              HasSubstr("takes no lists of tiles; allowed: mma"));
  EXPECT_THAT(refusal({{"mask", "blocks:random:0.5:1"}, {"tile-kv", "176"}}),
              HasSubstr("tiles of 64x176 do not divide"));
  EXPECT_THAT(refusal({{"mask", "prefix-lm:8"}, {"timing", "timed"}, {"pass", "backward"}}),
              HasSubstr("mask is a list of tiles; allowed: none, causal, window"));
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
  const auto refusal = [](const Options& options) {
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

/// One query of 8 heads in 2 groups against 256 keys, as the family mma runs it.
Point decode_point(Options options) {
  const Options usual{{"pack-gqa", "on"}, {"kv-split", "auto"}, {"launch", "static"},
                      {"heads", "8"},     {"kv-heads", "2"},    {"seq-q", "1"},
                      {"tile-q", "16"},   {"tile-kv", "64"},    {"ctas-per-sm", "2"},
                      {"seq-kv", "256"}};
  for (const auto& option : usual)
    if (std::ranges::find(options, option.first, &Options::value_type::first) == options.end())
      options.push_back(option);
  return small_point(options);
}

kernels::AttentionDecode call_of(const Options& options) {
  return std::get<kernels::AttentionDecode>(attention_call(decode_point(options)));
}

TEST(DecodeCall, HasTheProblemOfItsPointBeforeItWasPacked) {
  const kernels::AttentionDecode call = call_of({});
  EXPECT_EQ(call.problem.heads, 8);
  EXPECT_EQ(call.problem.kv_heads, 2);
  EXPECT_EQ(call.problem.seq_q, 1);
  EXPECT_EQ(call.problem.seq_kv, 256);
  EXPECT_EQ(call.workers, 3);
  EXPECT_EQ(call.family, "mma");
  EXPECT_EQ(call.pages.page_rows, 0);
}

TEST(DecodeCall, RunsTheKernelThatTheCallItselfTakes) {
  for (const char* positions : {"1", "4", "5", "20"}) {
    const bool few = std::stoi(positions) * 4 <= 16;
    const AttentionCall call = attention_call(decode_point(
        {{"seq-q", positions}, {"tile-q", few ? "16" : "32"}, {"ctas-per-sm", few ? "2" : "1"}}));
    EXPECT_EQ(&variant_of(call),
              kernels::decode_variant_of(std::get<kernels::AttentionDecode>(call)))
        << positions;
  }
}

TEST(DecodeCall, HasThePagesOfItsPoint) {
  const kernels::AttentionDecode call =
      call_of({{"batch", "3"}, {"page-rows", "32"}, {"page-table", "shuffle:1"}});
  EXPECT_EQ(call.pages.page_rows, 32);
  EXPECT_EQ(call.pages.table_stride, 256 / 32);
  EXPECT_EQ(call.pages.page_count, 3 * 256 / 32);
}

// Four sequences of four rows share 128 keys: one tile of 16 rows has all of them, and of two
// queries each one of 32.
TEST(DecodeCall, ScansAPrefixOnceUnderCascadeAlone) {
  const Options shared{{"batch", "4"}, {"prefix", "128"}, {"page-rows", "64"}};
  EXPECT_FALSE(call_of(shared).prefix.shared());
  Options cascade = shared;
  cascade.emplace_back("cascade", "on");
  EXPECT_EQ(call_of(cascade).prefix.keys, 128);
  EXPECT_EQ(call_of(cascade).prefix.group, 4);
  cascade.emplace_back("seq-q", "2");
  EXPECT_THAT(test::message_of<UsageError>([&] { call_of(cascade); }),
              HasSubstr("for these rows: 32 and 64"));
  cascade.emplace_back("tile-q", "32");
  cascade.emplace_back("ctas-per-sm", "1");
  const AttentionCall call = attention_call(decode_point(cascade));
  EXPECT_EQ(&variant_of(call),
            kernels::decode_variant_of(std::get<kernels::AttentionDecode>(call)));
}

TEST(DecodeCall, IsRefusedWhereNoKernelRunsIt) {
  const auto refusal = [](const Options& options) {
    return test::message_of<UsageError>([&] { attention_call(decode_point(options)); });
  };
  EXPECT_THAT(refusal({{"tile-q", "32"}}), HasSubstr("for these rows: 16 and 64"));
  EXPECT_THAT(refusal({{"seq-q", "5"}}), HasSubstr("for these rows: 32 and 64"));
  EXPECT_THAT(refusal({{"ctas-per-sm", "1"}}), HasSubstr("ctas-per-sm: allowed for"));
  EXPECT_THAT(refusal({{"head-dim", "96"}}), HasSubstr("no decode kernel mma"));
  EXPECT_THAT(refusal({{"kernel", "hopper"}}), HasSubstr("no decode kernel hopper"));
  EXPECT_THAT(refusal({{"kv-split", "1"}}), HasSubstr("kv-split: "));
  EXPECT_THAT(refusal({{"scan", "sawtooth"}}), HasSubstr("scan: "));
  EXPECT_THAT(refusal({{"section", "2"}}), HasSubstr("section, "));
  EXPECT_THAT(refusal({{"batch", "2"}, {"prefix", "64"}}), HasSubstr("prefix: "));
  EXPECT_THAT(refusal({{"mask", "window:8"}}), HasSubstr("window"));
  EXPECT_THAT(refusal({{"hints", "q:first"}}), HasSubstr("hints: "));
}

struct Case {
  const char* what;
  Options options;                                // of the program, beside those of every case
  std::function<void(AttentionForward&)> change;  // the same for the API
  std::string taken_by;
};

// 256 keys are 4 tiles of 64.
const Case cases[] = {
    {"a plain problem", {}, [](AttentionForward&) {}, "simulator measure api "},
    {"more parts than K/V tiles: some are empty",
     {{"kv-split", "5"}},
     [](AttentionForward& call) { call.schedule.kv_split = 5; },
     "api "},
    {"balanced with parts: nothing is cut, as static",
     {{"launch", "balanced"}, {"kv-split", "2"}},
     [](AttentionForward& call) {
       call.schedule.launch = launch_id<BalancedLaunch>;
       call.schedule.kv_split = 2;
     },
     "api "},
    {"balanced in kernels that merge no pieces",
     {{"launch", "balanced"}},
     [](AttentionForward& call) { call.schedule.launch = launch_id<BalancedLaunch>; },
     "simulator "},
    {"fp32 by another family than mma-fp32",
     {{"dtype", "fp32"}, {"kernel", "mma"}},
     [](AttentionForward& call) { call.problem.dtype = ElementType::fp32; },
     "simulator "},
    {"K/V outer",
     {{"loop", "kv-outer"}},
     [](AttentionForward& call) { call.schedule.loop = Loop::kv_outer; },
     "simulator "},
    {"a head dim without a kernel",
     {{"head-dim", "72"}},
     [](AttentionForward& call) { call.problem.head_dim = 72; },
     "simulator "},
    {"a tile without a kernel",
     {{"tile-q", "48"}},
     [](AttentionForward& call) { call.tiling.q_rows = 48; },
     "simulator "},
    {"lists of tiles that no kernel has",
     {{"mask", "prefix-lm:8"}},
     [](AttentionForward& call) {
       alignas(16) static char lists[16];
       call.problem.mask.kind = MaskKind::listed;
       call.lists.entries = {reinterpret_cast<int64_t*>(lists), reinterpret_cast<int32_t*>(lists)};
     },
     "simulator "},
    {"tiles that share a line",
     {{"head-dim", "40"}, {"tile-q", "10"}},
     [](AttentionForward& call) {
       call.problem.head_dim = 40;
       call.tiling.q_rows = 10;
     },
     ""}};

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
    std::string taken_by;
    if (is_taken([&] { small_point(one.options); })) taken_by += "simulator ";
    if (is_taken([&] { attention_call(small_point(one.options)); })) taken_by += "measure ";
    AttentionForward call;
    call.problem = {.seq_q = 256, .seq_kv = 256, .head_dim = 64};
    call.tiling = {64, 64};
    call.family = "mma";
    call.schedule = {.workers = 3};
    call.q = call.k = call.v = call.o = memory;
    one.change(call);
    if (kernels::check(call)) taken_by += "api ";
    EXPECT_EQ(taken_by, one.taken_by) << one.what << ": " << check(call).message;
  }
}

}  // namespace
}  // namespace sawtooth::experiments
