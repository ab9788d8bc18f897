// What a profile and a die say reaches the model of time, and what is switched off does not.
#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/timed/parameters.hpp"
#include "sim/timed/simulate_timed.hpp"

namespace sawtooth::sim {
namespace {

Gpu two_halves() {
  Gpu gpu;
  gpu.sms = 132;
  gpu.l2_bytes = 60 << 20;
  gpu.l2_halves = 2;
  gpu.l2_ways = 16;
  gpu.l2_reserved_share = 0.03;
  gpu.l2_scattered_share = 0.07;
  gpu.latency_near_ns = 150;
  gpu.latency_far_ns = 250;
  gpu.latency_dram_ns = 400;
  gpu.launch_ns = 4000;
  gpu.refill_ns = 700;
  return gpu;
}

Request timed() {
  Request request;
  request.timing = Timing::timed;
  request.l2_bytes = 60 << 20;
  return request;
}

TEST(TimedProfile, ScatteredPagesAreThoseOfTheGpu) {
  Request request = timed();
  const HalvesParameters lines = timed_parameters(request, two_halves(), true).l2.lines;
  EXPECT_EQ(lines.scattered, 0.07);
  EXPECT_FALSE(lines.one_allocation);
  request.without.add(Mechanism::scattered_pages);
  const HalvesParameters without = timed_parameters(request, two_halves(), true).l2.lines;
  EXPECT_EQ(without.scattered, 0);
  EXPECT_TRUE(without.one_allocation);
}

TEST(TimedProfile, LaunchesAndTheirCtasBeginWithTheGapsOfTheGpu) {
  Request request = timed();
  const StepParameters step = timed_parameters(request, two_halves(), true).step;
  EXPECT_EQ(step.launch_ns, 4000);
  EXPECT_EQ(step.refill_ns, 700);
  request.without.add(Mechanism::starts);
  request.without.add(Mechanism::item_cost);
  const StepParameters without = timed_parameters(request, two_halves(), true).step;
  EXPECT_EQ(without.launch_ns, 0);
  EXPECT_EQ(without.refill_ns, 0);
}

TEST(TimedProfile, AKernelMayHaveGapsOfItsOwn) {
  Request request = timed();
  request.kernel.launch_ns = 5000;
  request.kernel.refill_ns = 0;
  const StepParameters step = timed_parameters(request, two_halves(), true).step;
  EXPECT_EQ(step.launch_ns, 5000);
  EXPECT_EQ(step.refill_ns, 0);
}

// What a launch reads beside its tensors comes on top of the totals, of no tensor's counts, and
// leaves near misses alone.
TEST(TimedProfile, ALaunchReadsMoreThanItsTensors) {
  Request request = timed();
  request.problem.seq_q = request.problem.seq_kv = 1024;
  request.schedule.workers = 132;
  Gpu gpu = two_halves();
  const Prediction before = simulate_timed(request, timed_parameters(request, gpu, true));
  gpu.launch_dram_read_sectors = 3000;
  gpu.launch_fabric_read_sectors = 2000;
  const Prediction with = simulate_timed(request, timed_parameters(request, gpu, true));
  EXPECT_EQ(*with.total.dram_read_sectors, *before.total.dram_read_sectors + 3000);
  EXPECT_EQ(*with.total.fabric_read_sectors, *before.total.fabric_read_sectors + 2000);
  EXPECT_EQ(with.total.l2_read_miss_sectors, before.total.l2_read_miss_sectors);
  EXPECT_EQ(with.total.cold_read_sectors, before.total.cold_read_sectors);
  EXPECT_EQ(with.time_us, before.time_us);
  for (size_t tensor = 0; tensor < with.by_tensor.size(); ++tensor)
    EXPECT_EQ(with.by_tensor[tensor].dram_read_sectors, before.by_tensor[tensor].dram_read_sectors);
  request.without.add(Mechanism::starts);
  const Prediction without = simulate_timed(request, timed_parameters(request, gpu, true));
  EXPECT_LT(*without.total.dram_read_sectors, *before.total.dram_read_sectors + 3000);
}

/// What is said against `request` on `gpu`; empty where nothing is.
std::string refusal(const Request& request, const Gpu& gpu) {
  try {
    timed_parameters(request, gpu, true);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

// A model without the rate of products takes none of their time, which no GPU does.
TEST(TimedProfile, WhatTheModelNeedsAndTheGpuLacksIsRefusedByName) {
  struct Needed {
    const char* key;
    std::optional<double> Gpu::*value;
  };
  Request request = timed();
  request.kernel.tensor_share = 0.6;
  request.kernel.exp_per_clock = 16;
  Gpu gpu = two_halves();
  gpu.name = "half-known";
  gpu.bf16_tflops = 990;
  gpu.sm_clock_mhz = 1755;
  EXPECT_EQ(refusal(request, gpu), "");
  for (const Needed& needed :
       {Needed{"latency-near-ns", &Gpu::latency_near_ns},
        Needed{"latency-far-ns", &Gpu::latency_far_ns},
        Needed{"latency-dram-ns", &Gpu::latency_dram_ns}, Needed{"bf16-tflops", &Gpu::bf16_tflops},
        Needed{"sm-clock-mhz", &Gpu::sm_clock_mhz}}) {
    Gpu lacking = gpu;
    (lacking.*needed.value).reset();
    EXPECT_THAT(refusal(request, lacking),
                testing::EndsWith(std::string("gpu half-known has no ") + needed.key));
  }
}

// Rates of products are those of bf16 and fp16: only the time of a whole step stands for fp32 too.
TEST(TimedProfile, Fp32NeedsTheTimeOfAStep) {
  Request request = timed();
  request.kernel.tensor_tflops = 600;
  EXPECT_EQ(refusal(request, two_halves()), "");
  request.problem.dtype = ElementType::fp32;
  EXPECT_THAT(refusal(request, two_halves()), testing::HasSubstr("dtype = fp32 needs step-ns"));
  request.kernel.step_ns = 900;
  EXPECT_EQ(refusal(request, two_halves()), "");
}

}  // namespace
}  // namespace sawtooth::sim
