// Some of many heads that are alike stand for all: against the replay of all of them.
#include <cmath>

#include <gtest/gtest.h>

#include "sim/timed/simulate_timed.hpp"

namespace sawtooth::sim {
namespace {

Request many_heads(MaskKind mask) {
  const int64_t heads = mask == MaskKind::none ? 72 : 144;  // a million steps
  Request request;
  request.timing = Timing::timed;
  request.problem = {.heads = heads,
                     .kv_heads = heads / 2,
                     .seq_q = 8192,
                     .seq_kv = 8192,
                     .head_dim = 64,
                     .mask = {mask, 0}};
  if (mask == MaskKind::none) request.problem.batch = request.problem.heads = 8;
  if (mask == MaskKind::none) request.problem.kv_heads = 4;
  request.tiling = {64, 64};
  request.schedule.launch = launch_id<DynamicLaunch>;
  request.schedule.workers = 8;
  request.l2_bytes = 3 << 20;  // K and V of a head and a half
  request.kernel.exposed_ns = 400;
  request.kernel.jitter = 0.02;
  return request;
}

Gpu small_gpu() {
  Gpu gpu;
  gpu.sms = 8;
  gpu.l2_bytes = 3 << 20;
  gpu.latency_near_ns = 150;
  gpu.latency_dram_ns = 400;
  return gpu;
}

double off(int64_t predicted, int64_t exact) {
  return std::abs(double(predicted) / double(exact) - 1);
}

class RepeatedHeads : public ::testing::TestWithParam<MaskKind> {};
INSTANTIATE_TEST_SUITE_P(Masks, RepeatedHeads, ::testing::Values(MaskKind::none, MaskKind::causal));

TEST_P(RepeatedHeads, GiveWhatAllOfThemDo) {
  Request request = many_heads(GetParam());
  Gpu gpu = small_gpu();
  const bool halves = GetParam() == MaskKind::none;
  request.bulk_loads = halves;  // of fabric misses half are counted then
  if (halves) {
    request.l2_bytes = gpu.l2_bytes = 6 << 20;
    gpu.l2_halves = 2;
    gpu.latency_far_ns = 250;
  }
  const Prediction some = median_launch(request, gpu, halves);
  EXPECT_NE(some.method, "");
  request.without.add(Mechanism::repeats);
  const Prediction all = median_launch(request, gpu, halves);
  EXPECT_EQ(all.method, "");
  EXPECT_EQ(some.tile_visits, all.tile_visits);
  EXPECT_EQ(some.total.sm_read_sectors, all.total.sm_read_sectors);
  EXPECT_EQ(some.total.l2_write_sectors, all.total.l2_write_sectors);
  EXPECT_EQ(some.total.cold_read_sectors, all.total.cold_read_sectors);
  EXPECT_LT(off(*some.total.dram_read_sectors, *all.total.dram_read_sectors), 0.02);
  EXPECT_LT(off(*some.total.l2_read_miss_sectors, *all.total.l2_read_miss_sectors), 0.02);
  EXPECT_EQ(some.total.l2_write_miss_sectors, all.total.l2_write_miss_sectors);
  EXPECT_EQ(some.total.dram_write_sectors.has_value(), all.total.dram_write_sectors.has_value());
  if (all.total.dram_write_sectors) {
    EXPECT_LT(off(*some.total.dram_write_sectors, *all.total.dram_write_sectors), 0.02);
  }
  EXPECT_LT(std::abs(*some.time_us / *all.time_us - 1), 0.005);
}

TEST(Heads, RepeatWhereTheyAreAlikeAndMany) {
  const Request request = many_heads(MaskKind::causal);
  ASSERT_TRUE(repeated_heads(request));
  EXPECT_EQ(repeated_heads(request)->step, 2);  // heads of a K/V head: 256 items, 32 waves
  EXPECT_EQ(repeated_heads(request)->replayed, 6);
  const auto repeats = [&](auto change) {
    Request other = request;
    change(other);
    return repeated_heads(other).has_value();
  };
  EXPECT_FALSE(repeats([](Request& r) { r.schedule.launch = launch_id<StaticLaunch>; }));
  EXPECT_FALSE(repeats([](Request& r) { r.schedule.order.section = 144; }));
  EXPECT_FALSE(repeats([](Request& r) { r.problem.heads = r.problem.kv_heads = 10; }));
  EXPECT_FALSE(repeats([](Request& r) { r.problem.seq_q = r.problem.seq_kv = 1024; }));
  EXPECT_FALSE(repeats([](Request& r) { r.schedule.prefetch = 1; }));
  EXPECT_FALSE(repeats([](Request& r) {
    r.problem.batch = 2;
    r.schedule.order.head_order = HeadOrder::head_major;
  }));
}

}  // namespace
}  // namespace sawtooth::sim
