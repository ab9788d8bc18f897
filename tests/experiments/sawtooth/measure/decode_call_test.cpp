// Which points have a decode kernel of this build: without a GPU.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/measure/attention_on_device.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/measure/small_point.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using testing::HasSubstr;

/// One query of 8 heads in 2 groups against 256 keys, as the family mma runs it.
Point decode_point(test::Options options) {
  const test::Options usual{{"pack-gqa", "on"}, {"kv-split", "auto"}, {"launch", "static"},
                            {"heads", "8"},     {"kv-heads", "2"},    {"seq-q", "1"},
                            {"tile-q", "16"},   {"tile-kv", "64"},    {"ctas-per-sm", "2"}};
  for (const auto& option : usual)
    if (std::ranges::find(options, option.first, &test::Options::value_type::first) ==
        options.end())
      options.push_back(option);
  return test::small_point(options);
}

kernels::AttentionDecode call_of(const test::Options& options) {
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
  const test::Options shared{{"batch", "4"}, {"prefix", "128"}, {"page-rows", "64"}};
  EXPECT_FALSE(call_of(shared).prefix.shared());
  test::Options cascade = shared;
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
  const auto refusal = [](const test::Options& options) {
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

}  // namespace
}  // namespace sawtooth::experiments
