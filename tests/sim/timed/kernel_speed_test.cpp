// What a kernel's costs come to on a GPU.
#include <gtest/gtest.h>

#include "sim/timed/parameters.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {
namespace {

Gpu profile() {
  Gpu gpu;
  gpu.sms = 132;
  gpu.l2_bytes = 1 << 20;
  gpu.latency_near_ns = 150;
  gpu.latency_dram_ns = 400;
  return gpu;
}

// 4 x 100 x 10 x 10 FLOP in 40 ns and 1000 exponentials in 100 ns at the kernel's rates.
Request request() {
  Request made;
  made.problem.head_dim = 10;
  made.tiling = {100, 10};
  made.l2_bytes = 1 << 20;
  made.timing = Timing::timed;
  made.kernel.tensor_tflops = 132;    // 1000 FLOP a nanosecond and SM
  made.kernel.exp_tera_per_s = 1.32;  // 10 exponentials a nanosecond and SM
  made.kernel.exposed_ns = 100;
  made.kernel.age_bias = 0.4;
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
  spills.kernel.spill_bytes = 3200;  // 25 lines
  EXPECT_EQ(lines(), 8192 - 100);
  spills.kernel.spill_bytes = 1 << 18;
  EXPECT_THROW(lines(), std::invalid_argument);
}

TEST(KernelSpeed, ThePowerLimitIsOfTheGpuAndTheKernel) {
  Gpu gpu = profile();
  gpu.power_delay_ms = 35;
  gpu.power_fall_ms = 50;
  Request draws = request();
  EXPECT_EQ(timed_parameters(draws, gpu, false).power.slowness, 0);
  draws.kernel.power_slowness = 0.12;
  const PowerLimit power = timed_parameters(draws, gpu, false).power;
  EXPECT_EQ(power.delay_ns, 35e6);
  EXPECT_EQ(power.fall_ns, 50e6);
  EXPECT_EQ(power.slowness, 0.12);
  draws.without.add(Mechanism::power);
  EXPECT_EQ(timed_parameters(draws, gpu, false).power.slowness, 0);
}

TEST(KernelSpeed, GpcsAreAsFarApartAsUnderTheKernelAndElseAsOnTheGpu) {
  Gpu gpu = profile();
  gpu.sm_spread = 0.001;
  Request load = request();
  const auto step = [&] { return timed_parameters(load, gpu, false).step; };
  EXPECT_EQ(step().sm_spread, 0.001);
  load.kernel.sm_spread = 0.006;
  EXPECT_EQ(step().sm_spread, 0.006);
  load.without.add(Mechanism::sm_spread);
  EXPECT_EQ(step().sm_spread, 0);
}

TEST(KernelSpeed, AStepSlowsWithWhatDramReads) {
  Request load = request();
  EXPECT_EQ(timed_parameters(load, profile(), false).dram_slowness, 0);
  load.kernel.dram_slowness = 0.05;  // a TB/s
  EXPECT_DOUBLE_EQ(timed_parameters(load, profile(), false).dram_slowness, 0.05 / 1000);
  load.without.add(Mechanism::power);
  EXPECT_EQ(timed_parameters(load, profile(), false).dram_slowness, 0);
}

TEST(KernelSpeed, WhatDramDelaysIsOfKernelsWithoutLeads) {
  Request load = request();
  load.kernel.dram_late_ns = 1400;
  EXPECT_EQ(timed_parameters(load, profile(), false).step.dram_late_ns, 1400);
  load.without.add(Mechanism::bandwidth);
  EXPECT_EQ(timed_parameters(load, profile(), false).step.dram_late_ns, 0);
  load.kernel.lead_k_steps = load.kernel.lead_v_steps = 1;
  EXPECT_THROW(timed_parameters(load, profile(), false), std::invalid_argument);
}

TEST(KernelSpeed, PagesAddToAStepOfGivenTime) {
  Request paged = request();
  paged.kernel.step_ns = 200;
  paged.kernel.page_step_ns = 50;
  EXPECT_DOUBLE_EQ(cost_of(paged).pipe_ns(), 200);
  paged.sequences.pages.rows = 16;
  EXPECT_DOUBLE_EQ(cost_of(paged).pipe_ns(), 250);
}

TEST(KernelSpeed, ItsLoadsMayReachAShareOfDramsRate) {
  Request request_of = request();
  Gpu gpu = profile();
  gpu.dram_gb_per_s = 4000;
  EXPECT_DOUBLE_EQ(timed_parameters(request_of, gpu, false).l2.dram_bytes_a_ns, 4000);
  request_of.kernel.dram_share = 0.9;
  EXPECT_DOUBLE_EQ(timed_parameters(request_of, gpu, false).l2.dram_bytes_a_ns, 3600);
}

TEST(KernelSpeed, ATileTakesTheLatenciesThatItsLoadsWaitFor) {
  Request waits = request();
  waits.kernel.lead_k_steps = waits.kernel.lead_v_steps = 0;
  waits.kernel.waits_a_tile = 2.5;
  const L2Parameters l2 = timed_parameters(waits, profile(), false).l2;
  EXPECT_EQ(l2.near_ns, 375);
  EXPECT_EQ(l2.dram_ns, 1000);
}

TEST(KernelSpeed, RefusesALeadWithoutTheOtherAndWaitsWithoutLeads) {
  Request half = request();
  half.kernel.lead_k_steps = 1;
  EXPECT_THROW(timed_parameters(half, profile(), false), std::invalid_argument);
  half.kernel = request().kernel;
  half.kernel.waits_a_tile = 2;
  EXPECT_THROW(timed_parameters(half, profile(), false), std::invalid_argument);
}

TEST(KernelSpeed, RatesAreThoseOfTheWholeGpu) {
  const StepCost cost = cost_of(request());
  EXPECT_NEAR(cost.tensor_ns, 40, 1e-9);
  EXPECT_NEAR(cost.exp_ns, 100, 1e-9);
  EXPECT_NEAR(cost.exposed_ns, 100, 1e-9);
}

TEST(KernelSpeed, AStepOfAnotherLengthKeepsTheSharesOfProductsAndExponentials) {
  Request faster = request();
  faster.kernel.step_ns = 70;  // half of 140
  const StepCost cost = cost_of(faster);
  EXPECT_NEAR(cost.tensor_ns, 20, 1e-9);
  EXPECT_NEAR(cost.exp_ns, 50, 1e-9);
  EXPECT_NEAR(cost.exposed_ns, 100, 1e-9);
}

// 60 ns that every step takes of the pipes: alone 40 + 100 + 60 + 100, two CTAs twice the first
// three.
TEST(KernelSpeed, TheFixedPartOfAStepIsSharedAndKeepsItsShareOfAnotherLength) {
  Request fixed = request();
  fixed.kernel.fixed_ns = 60;
  fixed.kernel.age_bias = 0;
  EXPECT_NEAR(cost_of(fixed).alone_ns(), 300, 1e-9);
  EXPECT_NEAR(cost_of(fixed).shared_ns(2, 0), 400, 1e-9);
  fixed.kernel.step_ns = 100;  // half of 200
  EXPECT_NEAR(cost_of(fixed).fixed_ns, 30, 1e-9);
  EXPECT_NEAR(cost_of(fixed).alone_ns(), 200, 1e-9);
}

TEST(KernelSpeed, CtasThatAlternateHaveAJitterOfTheirOwnAndPrefetchingSmsAreFurtherApart) {
  Request asked = request();
  asked.kernel.jitter_shared = 0.08;
  asked.kernel.tpc_spread = 0.1;
  asked.kernel.tpc_spread_prefetch = 0.2;
  const auto step = [&] { return timed_parameters(asked, profile(), false).step; };
  EXPECT_EQ(step().jitter_in_step, 0.08) << "that of the others, where it is not known";
  asked.kernel.jitter_in_step = 0.02;
  EXPECT_EQ(step().jitter_in_step, 0.02);
  EXPECT_EQ(step().jitter_shared, 0.08);
  EXPECT_EQ(step().tpc_spread, 0.1);
  asked.schedule.prefetch = 2;
  EXPECT_EQ(step().tpc_spread, 0.2);
  EXPECT_EQ(step().jitter_in_step, 0.02);
}

TEST(KernelSpeed, OfTwoCtasThatKeepStepNoneIsPreferred) {
  Request other = request();
  other.kernel.stages = 3;
  StepParameters step = timed_parameters(other, profile(), false).step;
  EXPECT_EQ(step.age_bias, 0.4);
  EXPECT_EQ(step.stages, 3);
  EXPECT_FALSE(step.keep_step);
  other.kernel.keep_step = true;
  step = timed_parameters(other, profile(), false).step;
  EXPECT_EQ(step.age_bias, 0);
  EXPECT_TRUE(step.keep_step);
}

// Under a mask items differ in length, under grid each is a CTA: each begins in a phase of its own.
TEST(KernelSpeed, CtasThatAlternateMeetUnderAMaskAndUnderGrid) {
  Request other = request();
  other.kernel.keep_step = true;
  other.kernel.wrong_phase = {.slowness = 0.2, .steps = 10, .met_share = 0.5};
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    other.problem.mask.kind = mask;
    const StepParameters step = timed_parameters(other, profile(), false).step;
    EXPECT_TRUE(step.keep_step);
    EXPECT_EQ(step.wrong_phase.met_share, 0.5);
    EXPECT_EQ(step.phases_meet, mask == MaskKind::causal);
  }
  other.problem.mask.kind = MaskKind::none;
  other.schedule.launch = launch_id<GridLaunch>;
  EXPECT_TRUE(timed_parameters(other, profile(), false).step.phases_meet);
}

// Only calls that add to earlier results leave warpgroups apart; more where they write O too.
TEST(KernelSpeed, ItemsAreStaggeredBehindSuchThatAdd) {
  Request other = request();
  other.kernel.staggered = {.share = 0.1, .finish_share = 0.2, .kept_share = 0.5, .gain = 0.03};
  const auto share = [&](Running running) {
    other.running = running;
    return timed_parameters(other, profile(), false).step.staggered.share;
  };
  EXPECT_EQ(share({}), 0);
  EXPECT_EQ(share({.on = true, .begins = true}), 0);
  EXPECT_EQ(share({.on = true}), 0.1);
  EXPECT_EQ(share({.on = true, .finishes = true}), 0.2);
  other.without.add(Mechanism::jitter);
  EXPECT_EQ(share({.on = true}), 0);
}

TEST(KernelSpeed, WithoutAgeBiasNoneIsPreferred) {
  Request other = request();
  other.without.add(Mechanism::age_bias);
  EXPECT_EQ(timed_parameters(other, profile(), false).step.age_bias, 0);
}

// 40 ns of products, 100 of exponentials, 100 exposed; items of 30 and 50 ns.
TEST(KernelSpeed, APaceIsOfStepsAndItems) {
  Request slower = request();
  slower.kernel.item_begin_ns = 30;
  slower.kernel.item_end_ns = 50;
  slower.kernel.pace = 1.5;
  EXPECT_DOUBLE_EQ(cost_of(slower).alone_ns(), 360);
  const StepParameters step = timed_parameters(slower, profile(), false).step;
  EXPECT_DOUBLE_EQ(step.item_begin_ns, 45);
  EXPECT_DOUBLE_EQ(step.item_end_ns, 75);
  slower.kernel.step_ns = 70;
  slower.kernel.exposed_ns = 0;
  EXPECT_DOUBLE_EQ(cost_of(slower).alone_ns(), 105);
}

TEST(KernelSpeed, PrefetchHasOtherCostsWhereCtasShareAnSm) {
  Request asked = request();
  asked.kernel.prefetch = {.step_ns = 50, .lines_ns = 90};
  const auto parameters = [&] { return timed_parameters(asked, profile(), false).step; };
  EXPECT_EQ(parameters().prefetch_shared.lines_ns, 90) << "as alone";
  asked.kernel.prefetch_shared = {.step_ns = 40, .lines_ns = 60};
  asked.kernel.prefetch_lines_bias = 0.05;
  asked.schedule.prefetch = 2;
  const StepParameters step = parameters();
  EXPECT_EQ(step.prefetch.added_ns(0), 50);
  EXPECT_EQ(step.prefetch.added_ns(1), 140);
  const PrefetchTimes& shared = step.prefetch_shared;
  EXPECT_EQ(shared.added_ns(1), 100);
  EXPECT_EQ(shared.added_ns(0.5), 70) << "one of two has lines";
  EXPECT_EQ(step.prefetch_lines_bias, 0.05);
  asked.without.add(Mechanism::prefetch_cost);
  EXPECT_EQ(parameters().prefetch_shared.added_ns(1), 0);
}

// 100 TFLOP/s at a share of 0.5 on 50 SMs, and 16 exponentials at 2 GHz.
TEST(KernelSpeed, WithoutMeasuredRatesTheGpusOwnServe) {
  Request asked = request();
  asked.kernel = {};
  asked.kernel.tensor_share = 0.5;
  asked.kernel.exp_per_clock = 16;
  Gpu gpu = profile();
  gpu.sms = 50;
  gpu.bf16_tflops = 100;
  EXPECT_THROW(timed_parameters(asked, gpu, false), std::invalid_argument) << "no clock";
  gpu.sm_clock_mhz = 2000;
  const StepParameters step = timed_parameters(asked, gpu, false).step;
  EXPECT_NEAR(step.tensor_flop_a_ns, 1000, 1e-9);
  EXPECT_NEAR(step.exp_a_ns, 32, 1e-9);
}

TEST(KernelSpeed, NeedsARateToScale) {
  Request timed = request();
  timed.kernel = {};
  timed.kernel.step_ns = 70;
  EXPECT_THROW(timed_parameters(timed, profile(), false), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
