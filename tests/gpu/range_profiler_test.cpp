#include "cupti/range_profiler.hpp"

#include <cmath>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "cupti/metric_table.hpp"
#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/stream.hpp"
#include "scheduler/memory_units.hpp"
#include "tests/gpu/counters_available.hpp"

namespace sawtooth::cupti {
namespace {

using ::testing::HasSubstr;

struct Bench {
  kernels::Streams streams;
  kernels::L2State l2;
  kernels::DeviceBuffer buffer{int64_t{16} << 20};
  RangeProfiler profiler;

  Bench() { SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as<>(), 0, size_t{16} << 20)); }
  int64_t sectors() const { return buffer.bytes() / sector_bytes; }
  std::string metric(L2Counter counter) const {
    return std::string(metric_for(profiler.chip(), counter).metric);
  }
  std::function<void()> flush() {
    return [this] { l2.flush(); };
  }
  NamedLaunch read(const std::string& name) {
    return {name, [this] { streams.launch({}, buffer.as<>(), buffer.bytes()); }};
  }
};

class RangeProfilerOnGpu : public CountersOnGpu<Bench> {};

// L2 holds none of the 16 MiB, then all of them. The fills stand for DRAM where it is not counted.
TEST_F(RangeProfilerOnGpu, AColdReadTakesEverySectorFromMemoryAndAHotOneNone) {
  Bench& b = shared();
  const std::string fills = b.metric(L2Counter::fill_device);
  const Reading reading =
      b.profiler.measure(b.profiler.plan({fills}), b.flush(), {b.read("cold"), b.read("hot")});
  const auto sectors = double(b.sectors());
  EXPECT_NEAR(double(reading.ranges[0].count(fills).value()) / sectors, 1, 0.005);
  EXPECT_LT(double(reading.ranges[1].count(fills).value()) / sectors, 0.001);
}

TEST_F(RangeProfilerOnGpu, NearMissesLessFabricHitsAreWhatMemoryDelivers) {
  Bench& b = shared();
  if (chip_info(b.profiler.chip()).l2_halves != 2) GTEST_SKIP() << "one half: no fabric";
  const std::string near = b.metric(L2Counter::l2_read_miss);
  const std::string fabric = b.metric(L2Counter::fabric_read);
  const std::string fabric_miss = b.metric(L2Counter::fabric_read_miss);
  const std::string dram = b.metric(L2Counter::dram_read);
  const Reading reading = b.profiler.measure(b.profiler.plan({near, fabric, fabric_miss, dram}),
                                             b.flush(), {b.read("cold")});
  const RangeReading& cold = reading.ranges[0];
  const int64_t expected =
      cold.count(near).value() - cold.count(fabric).value() + cold.count(fabric_miss).value();
  EXPECT_NEAR(double(expected) / double(cold.count(dram).value()), 1, 0.01);
}

// Totals, hits and misses never share a pass, so this plan has at least three groups.
TEST_F(RangeProfilerOnGpu, SeveralGroupsGiveEveryMetricOnceAndWitnessesInEveryPass) {
  Bench& b = shared();
  const std::vector<std::string> metrics{"lts__t_sectors_srcunit_tex_op_read.sum",
                                         "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
                                         "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum"};
  const std::string witness = b.metric(L2Counter::sm_read);
  const MetricPlan plan = b.profiler.plan(metrics, {witness});
  const Reading reading = b.profiler.measure(plan, b.flush(), {b.read("cold")});
  EXPECT_GE(plan.groups.size(), 3u);
  EXPECT_EQ(reading.replay_passes, plan.passes());
  const RangeReading& range = reading.ranges[0];
  for (const std::string& metric : metrics) EXPECT_EQ(range.counts_by_pass(metric).size(), 1u);
  EXPECT_EQ(static_cast<int64_t>(range.counts_by_pass(witness).size()), plan.passes());
  // Lookups are hits or misses; the three come from three replays of a cold read.
  const auto read = double(range.count(metrics[0]).value());
  const auto found = double(range.count(metrics[1]).value() + range.count(metrics[2]).value());
  EXPECT_NEAR(found / read, 1, 0.005);
  // Every replay delivers what the SMs ask for, and less than four sectors an SM besides.
  for (const int64_t received : range.counts_by_pass(witness)) {
    EXPECT_GE(received, b.sectors());
    EXPECT_LE(received, b.sectors() + 4 * b.streams.sms().count());
  }
}

TEST_F(RangeProfilerOnGpu, ReadingsRepeatOnOneProfilerWithChangingPlans) {
  Bench& b = shared();
  const std::string received = b.metric(L2Counter::sm_read);
  const std::string fills = b.metric(L2Counter::fill_device);
  const MetricPlan one = b.profiler.plan({received});
  const MetricPlan two = b.profiler.plan({fills, received});
  for (int repetition = 0; repetition < 3; ++repetition) {
    const Reading first = b.profiler.measure(one, b.flush(), {b.read("a")});
    const Reading second = b.profiler.measure(two, b.flush(), {b.read("a"), b.read("b")});
    const int64_t count = first.ranges[0].count(received).value();
    EXPECT_EQ(first.ranges[0].count(fills), std::nullopt);
    for (const RangeReading& range : second.ranges) EXPECT_EQ(range.count(received), count);
  }
}

TEST_F(RangeProfilerOnGpu, AnUnknownMetricIsRefusedByNameAndTheProfilerStaysUsable) {
  Bench& b = shared();
  try {
    b.profiler.plan({"lts__t_sectors.sum", "lts__t_sector.sum"});
    FAIL() << "lts__t_sector.sum is no metric";
  } catch (const CounterError& error) {
    EXPECT_EQ(error.status(), Status::unknown_metric);
    EXPECT_THAT(error.what(), HasSubstr("lts__t_sector.sum"));
  }
  EXPECT_THROW(b.profiler.plan({"lts__t_sectors"}), CounterError);  // no rollup
  const std::string received = b.metric(L2Counter::sm_read);
  const Reading reading =
      b.profiler.measure(b.profiler.plan({received}), b.flush(), {b.read("run")});
  EXPECT_GE(reading.ranges[0].count(received).value(), b.sectors());
}

TEST_F(RangeProfilerOnGpu, WhatALaunchThrowsComesThroughAndTheProfilerStaysUsable) {
  Bench& b = shared();
  const std::string received = b.metric(L2Counter::sm_read);
  const MetricPlan plan = b.profiler.plan({received});
  EXPECT_THROW(
      b.profiler.measure(plan, b.flush(), {{"run", [] { throw std::domain_error("mine"); }}}),
      std::domain_error);
  const Reading reading = b.profiler.measure(plan, b.flush(), {b.read("run")});
  EXPECT_GE(reading.ranges[0].count(received).value(), b.sectors());
}

// A thread without a context gets one for the profiler's life alone.
TEST(RangeProfilerThreadOnGpu, HasNoContextBeforeAndAfterTheProfilersLife) {
  if (const std::string reason = why_no_counters(); !reason.empty()) GTEST_SKIP() << reason;
  constexpr unsigned int first_version_with_it = 4000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  SAWTOOTH_CUDA_CHECK(cudaGetDriverEntryPointByVersion(
      "cuCtxGetCurrent", &function, first_version_with_it, cudaEnableDefault, &found));
  const auto current = reinterpret_cast<int (*)(void**)>(function);
  void *before = nullptr, *during = nullptr, *after = nullptr;
  std::thread([&] {
    current(&before);
    {
      const RangeProfiler profiler;
      current(&during);
    }
    current(&after);
  }).join();
  EXPECT_EQ(before, nullptr);
  EXPECT_NE(during, nullptr);
  EXPECT_EQ(after, nullptr);
}

TEST_F(RangeProfilerOnGpu, TwoRangesOfOneNameAndNoRangeAreRefused) {
  Bench& b = shared();
  const MetricPlan plan = b.profiler.plan({b.metric(L2Counter::sm_read)});
  EXPECT_THROW(b.profiler.measure(plan, b.flush(), {b.read("a"), b.read("a")}),
               std::invalid_argument);
  EXPECT_THROW(b.profiler.measure(plan, b.flush(), {}), std::invalid_argument);
}

// A range without a launch: what is counted then is everybody else's.
TEST_F(RangeProfilerOnGpu, ARangeWithoutALaunchDeliversNothingToSms) {
  Bench& b = shared();
  const std::string received = b.metric(L2Counter::sm_read);
  const Reading reading =
      b.profiler.measure(b.profiler.plan({received}), b.flush(), {{"empty", [] {}}});
  EXPECT_EQ(reading.ranges[0].count(received), 0);
}

// 16 MiB that miss at first and hit then: half of the lookups, so 50 % but for a few launch words.
TEST_F(RangeProfilerOnGpu, ARatioIsNotGivenOutAsACount) {
  Bench& b = shared();
  const std::string ratio = "lts__t_sector_hit_rate.pct";
  const auto both = [&] {
    b.read("cold").launch();
    b.read("hot").launch();
  };
  const Reading reading =
      b.profiler.measure(b.profiler.plan({ratio}), b.flush(), {{"cold and hot", both}});
  ASSERT_EQ(reading.ranges[0].values.size(), 1u);
  EXPECT_NE(std::trunc(reading.ranges[0].values[0].value), reading.ranges[0].values[0].value);
  EXPECT_THROW(reading.ranges[0].count(ratio), CounterError);
}

}  // namespace
}  // namespace sawtooth::cupti
