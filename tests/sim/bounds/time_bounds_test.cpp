// The least time of all orders against times that the timed model gives.
#include "sim/bounds/bounds.hpp"
#include "tests/sim/timed/plain_steps.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

Gpu small_gpu() {
  Gpu gpu;
  gpu.name = "small";
  gpu.sms = 4;
  gpu.l2_bytes = 1 << 14;
  gpu.latency_near_ns = 150;
  gpu.latency_far_ns = 250;
  gpu.latency_dram_ns = 400;
  gpu.dram_gb_per_s = 100;
  gpu.launch_ns = 5000;
  gpu.sm_spread = 0.001;
  return gpu;
}

// 256 FLOP and one exponential a step, 1000 ns together.
Request costed(int64_t q_tiles, int64_t kv_tiles, int64_t workers) {
  Request request = request_of(q_tiles, kv_tiles, workers);
  request.l2_bytes = 1 << 14;
  request.kernel.tensor_tflops = 4 * 256.0 / 400 / 1000;  // of four SMs
  request.kernel.exp_tera_per_s = 4 * 1.0 / 500 / 1000;
  request.kernel.exposed_ns = 100;
  request.kernel.item_begin_ns = 30;
  request.kernel.item_end_ns = 20;
  return request;
}

// Five items of three steps for four workers: one has two. Its steps take 1000 ns, an item 50 and
// the first load 150; the launch begins with a load from DRAM, 400 ns, 5000 after the call.
TEST(TimeBounds, AreTheBusiestWorkersItems) {
  Gpu gpu = small_gpu();
  gpu.sm_spread = 0;
  gpu.dram_gb_per_s.reset();
  const TimeBounds bounds = time_bounds(costed(5, 3, 4), gpu);
  EXPECT_NEAR(bounds.all_orders, (5000 + 250 + 2 * (3000 + 50 + 150)) / 1000.0, 1e-9);
  EXPECT_NEAR(bounds.this_order, bounds.all_orders, 1e-9);
}

// Causal, four items of 1 to 4 steps, two workers: 5 steps each at best; with a stride of two over
// ascending items worker 1 has 2 + 4 steps.
TEST(TimeBounds, OfAStrideKnowWhoHasWhat) {
  Gpu gpu = small_gpu();
  gpu.sm_spread = 0;
  gpu.dram_gb_per_s.reset();
  Request request = costed(4, 4, 2);
  request.problem.mask.kind = MaskKind::causal;
  const TimeBounds bounds = time_bounds(request, gpu);
  EXPECT_NEAR(bounds.all_orders, (5250 + 5000 + 2 * 200) / 1000.0, 1e-9);
  EXPECT_NEAR(bounds.this_order, (5250 + 6000 + 2 * 200) / 1000.0, 1e-9);
}

TEST(TimeBounds, CountTheBytesThatAnyOrderReads) {
  Gpu gpu = small_gpu();
  gpu.dram_gb_per_s = 0.001;  // a byte a microsecond
  const TimeBounds bounds = time_bounds(costed(1, 3, 4), gpu);
  EXPECT_NEAR(bounds.all_orders, 5.250 + 7 * 128, 1e-9);  // Q, three tiles of K and of V
}

RC_GTEST_PROP(TimeBoundsOfSchedules, AreNeverAboveWhatTheTimedModelGives, ()) {
  Request request = tests::any_request();
  request.timing = Timing::timed;
  request.schedule.loop = Loop::kv_inner;
  request.l2_bytes = tests::between(2, 400) * 128;
  request.schedule.prefetch = tests::between(0, 3);
  const Request costs = costed(1, 1, 1);
  request.kernel = costs.kernel;
  request.kernel.jitter = 0.02;
  request.kernel.jitter_shared = 0.05;
  request.kernel.age_bias = double(tests::between(0, 1)) * 0.2;
  const Gpu gpu = small_gpu();
  const TimeBounds bounds = time_bounds(request, gpu);
  const double time_us = *simulate_timed(request, timed_parameters(request, gpu, true)).time_us;
  RC_ASSERT(bounds.all_orders <= time_us);
  RC_ASSERT(bounds.this_order <= time_us);
  RC_ASSERT(bounds.all_orders <= bounds.this_order);
}

}  // namespace
}  // namespace sawtooth::sim
