// Kernels whose speed is given beside the GPU's profile.
#include <gtest/gtest.h>

#include "sim/timed/parameters.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {
namespace {

GpuProfile profile() {
  GpuProfile gpu;
  gpu.sms = 132;
  gpu.l2_bytes = 1 << 20;
  gpu.step_tensor_tflops = 132;    // 1000 FLOP a nanosecond and SM
  gpu.step_exp_tera_per_s = 1.32;  // 10 exponentials a nanosecond and SM
  gpu.step_exposed_ns = 100;
  gpu.age_bias = 0.4;
  return gpu;
}

// 4 x 100 x 10 x 10 FLOP in 40 ns and 1000 exponentials in 100 ns at the profile's rates.
Request request() {
  Request made;
  made.problem.head_dim = 10;
  made.tiling = {100, 10};
  made.l2_bytes = 1 << 20;
  made.timing = Timing::timed;
  return made;
}

StepCost cost_of(const Request& request) {
  return step_cost(timed_parameters(request, profile(), false).step, request.problem,
                   request.tiling);
}

TEST(KernelSpeed, SpilledBytesOfTheCtasInFlightAreMissingInL2) {
  Request spills = request();
  const auto lines = [&] {
    return timed_parameters(spills, profile(), false).l2.lines.capacity_lines;
  };
  spills.l2_bytes = 1 << 20;
  spills.schedule.workers = 4;
  EXPECT_EQ(lines(), 8192);
  spills.speed.spill_bytes = 3200;  // 25 lines
  EXPECT_EQ(lines(), 8192 - 100);
  spills.speed.spill_bytes = 1 << 18;
  EXPECT_THROW(lines(), std::invalid_argument);
}

TEST(KernelSpeed, WithoutOneTheProfileSpeaks) {
  const StepCost cost = cost_of(request());
  EXPECT_NEAR(cost.tensor_ns, 40, 1e-9);
  EXPECT_NEAR(cost.exp_ns, 100, 1e-9);
  EXPECT_NEAR(cost.exposed_ns, 100, 1e-9);
}

TEST(KernelSpeed, AStepOfAnotherLengthKeepsTheSharesOfProductsAndExponentials) {
  Request faster = request();
  faster.speed.step_ns = 70;  // half of 140
  const StepCost cost = cost_of(faster);
  EXPECT_NEAR(cost.tensor_ns, 20, 1e-9);
  EXPECT_NEAR(cost.exp_ns, 50, 1e-9);
  EXPECT_NEAR(cost.exposed_ns, 100, 1e-9);
}

// 60 ns that every step takes of the pipes: alone 40 + 100 + 60 + 100, two CTAs twice the first
// three.
TEST(KernelSpeed, TheFixedPartOfAStepIsSharedAndKeepsItsShareOfAnotherLength) {
  GpuProfile gpu = profile();
  gpu.step_fixed_ns = 60;
  gpu.age_bias = 0;
  const auto cost = [&](const Request& request) {
    return step_cost(timed_parameters(request, gpu, false).step, request.problem, request.tiling);
  };
  EXPECT_NEAR(cost(request()).alone_ns(), 300, 1e-9);
  EXPECT_NEAR(cost(request()).shared_ns(2, 0), 400, 1e-9);
  Request faster = request();
  faster.speed.step_ns = 100;  // half of 200
  EXPECT_NEAR(cost(faster).fixed_ns, 30, 1e-9);
  EXPECT_NEAR(cost(faster).alone_ns(), 200, 1e-9);
}

TEST(KernelSpeed, CtasThatAlternateHaveALuckOfTheirOwnAndPrefetchingSmsAreFurtherApart) {
  GpuProfile gpu = profile();
  gpu.step_jitter_shared = 0.08;
  gpu.step_jitter_shared_wide = 0.05;
  gpu.tpc_spread = 0.1;
  gpu.tpc_spread_prefetch = 0.2;
  Request asked = request();
  const auto step = [&] { return timed_parameters(asked, gpu, false).step; };
  EXPECT_EQ(step().jitter_in_step, 0.08) << "that of the others, where it is not known";
  gpu.step_jitter_in_step = 0.02;
  EXPECT_EQ(step().jitter_in_step, 0.02);
  EXPECT_EQ(step().jitter_shared, 0.08);
  EXPECT_EQ(step().tpc_spread, 0.1);
  asked.schedule.prefetch = 2;
  EXPECT_EQ(step().tpc_spread, 0.2);
  asked.problem.head_dim = 128;
  EXPECT_EQ(step().jitter_shared, 0.05);
  EXPECT_EQ(step().jitter_in_step, 0.02);
}

TEST(KernelSpeed, ExposedTimeBiasAndStagesReplaceThoseOfTheProfile) {
  Request other = request();
  other.speed = {.step_ns = {}, .exposed_ns = 0, .age_bias = 0.1, .stages = 3, .spill_bytes = {}};
  const StepParameters step = timed_parameters(other, profile(), false).step;
  EXPECT_EQ(step.exposed_ns, 0);
  EXPECT_EQ(step.age_bias, 0.1);
  EXPECT_EQ(step.stages, 3);
  other.without.add(Mechanism::age_bias);
  EXPECT_EQ(timed_parameters(other, profile(), false).step.age_bias, 0);
}

TEST(KernelSpeed, PrefetchHasABiasOfItsOwnAndOtherCostsWhereCtasShareAnSm) {
  GpuProfile gpu = profile();
  gpu.prefetch_step_ns = 50;
  gpu.prefetch_lines_ns = 90;
  Request asked = request();
  EXPECT_EQ(timed_parameters(asked, gpu, false).step.prefetch_shared.lines_ns, 90) << "as alone";
  gpu.age_bias_prefetch = 0.7;
  gpu.prefetch_step_shared_ns = 40;
  gpu.prefetch_lines_shared_ns = 60;
  gpu.prefetch_lines_bias = 0.05;
  EXPECT_EQ(timed_parameters(asked, gpu, false).step.age_bias, 0.4);
  asked.schedule.prefetch = 2;
  const StepParameters step = timed_parameters(asked, gpu, false).step;
  EXPECT_EQ(step.age_bias, 0.7);
  EXPECT_EQ(step.prefetch.added_ns(0), 50);
  EXPECT_EQ(step.prefetch.added_ns(1), 140);
  EXPECT_EQ(step.prefetch.factor(1, 1), 1);
  const PrefetchCost& shared = step.prefetch_shared;
  EXPECT_EQ(shared.added_ns(1), 100);
  EXPECT_EQ(shared.added_ns(0.5), 70) << "one of two has lines";
  EXPECT_NEAR(shared.factor(1, 0.5), 1.05, 1e-12);
  EXPECT_NEAR(shared.factor(0, 0.5), 0.95, 1e-12);
  asked.without.add(Mechanism::prefetch_cost);
  EXPECT_EQ(timed_parameters(asked, gpu, false).step.prefetch_shared.added_ns(1), 0);
}

TEST(KernelSpeed, WideHeadsHaveABiasOfTheirOwnWhereTheProfileKnowsIt) {
  Request wide = request();
  wide.problem.head_dim = 128;
  GpuProfile gpu = profile();
  EXPECT_EQ(timed_parameters(wide, gpu, false).step.age_bias, 0.4);
  gpu.age_bias_wide = 0.6;
  EXPECT_EQ(timed_parameters(wide, gpu, false).step.age_bias, 0.6);
  EXPECT_EQ(timed_parameters(request(), gpu, false).step.age_bias, 0.4);
  wide.without.add(Mechanism::age_bias);
  EXPECT_EQ(timed_parameters(wide, gpu, false).step.age_bias, 0);
}

TEST(KernelSpeed, NeedsARateToScale) {
  GpuProfile unknown;
  unknown.sms = 1;
  unknown.l2_bytes = 1 << 20;
  unknown.step_exp_tera_per_s = 0;
  Request timed = request();
  timed.speed.step_ns = 70;
  EXPECT_THROW(timed_parameters(timed, unknown, false), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
