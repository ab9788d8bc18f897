// Counts of the timed wavefront, from its limits and from sums; which launch stands for several.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/halves/halves_in_step.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "tests/sim/timed/plain_steps.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

TEST(TimedWavefront, TwoWorkersOnOneTileReadItOnce) {
  TimedParameters parameters = plain_parameters(2);
  parameters.l2.dram_ns = 400;
  const Prediction prediction = simulate_timed(request_of(2, 1, 2), parameters);
  EXPECT_EQ(*prediction.total.dram_read_sectors, 4 * (2 + 1 + 1));  // two Q rows, K, V
  EXPECT_EQ(*prediction.total.sm_read_sectors, 4 * (2 + 2 + 2));
  EXPECT_NEAR(*prediction.time_us, (400 + step_ns) / 1000, 1e-9);
}

TEST(TimedWavefront, TheCombineKernelBeginsWhenItIsLaunched) {
  Request request = request_of(2, 2, 2);
  request.schedule.kv_split = 2;
  TimedParameters parameters = plain_parameters(2);
  const double at_once_us = *simulate_timed(request, parameters).time_us;
  parameters.step.combine_ns = 5000;
  EXPECT_NEAR(*simulate_timed(request, parameters).time_us, at_once_us + 5, 1e-9);
  request.schedule.kv_split = 1;  // which has none
  EXPECT_LT(*simulate_timed(request, parameters).time_us, 5);
}

// Two sequences and a third one whose prefixes a worker scans in two items, their own keys in
// three.
Request cascade_of_three(const SequenceLengths* lengths, int64_t prefix, int64_t workers) {
  Request request = request_of(1, prefix + 64, workers);
  request.problem.batch = 3;
  request.tiling = {2, 64};
  request.sequences = {
      .lengths = lengths, .order = nullptr, .prefix = {.keys = prefix, .group = 3}, .pages = {}};
  request.cascade = true;
  return request;
}

double merging_us(const Request& request) {
  TimedParameters parameters = plain_parameters(request.schedule.workers);
  const double free_us = *simulate_timed(request, parameters).time_us;
  parameters.step.merge_ns = 500;
  return *simulate_timed(request, parameters).time_us - free_us;
}

TEST(TimedWavefront, ItemsThatComeLastInACascadeMerge) {
  const std::vector<SequenceLengths> short_prefix(3, {1, 128}), long_prefix(3, {1, 192});
  // One worker has the prefix first: each sequence's own item comes last.
  EXPECT_NEAR(merging_us(cascade_of_three(short_prefix.data(), 64, 1)), 3 * 0.5, 1e-9);
  // Each item has a worker, and the prefix takes longer: its first item merges two sequences at
  // once.
  EXPECT_NEAR(merging_us(cascade_of_three(long_prefix.data(), 128, 5)), 0.5, 1e-9);
}

// The second of two sharers has lines 2 and 3 of a tile, and the last tile ends before them.
TEST(TimedWavefront, PartsOfAPrefetchAreThoseOfAFullTile) {
  Request request = request_of(6, 6, 2);
  request.problem.mask.kind = MaskKind::causal;  // the first sharer does not see the last tile
  request.tiling = {4, 4};
  request.schedule.prefetch = 1;
  const Counters c = simulate_timed(request, plain_parameters(2)).total;
  EXPECT_EQ(*c.l2_read_sectors - *c.sm_read_sectors, 0);
  request.schedule.workers = 1;  // which prefetches K and V of the last tile, two lines each
  const Counters alone = simulate_timed(request, plain_parameters(1)).total;
  EXPECT_EQ(*alone.l2_read_sectors - *alone.sm_read_sectors, 16);
}

// With nothing to wait for and nothing random workers keep step, and the counts are lockstep's:
// off the cliff a pair of K and V is as good as the two apart.
TEST(TimedWavefront, WithoutLatencyAndJitterCountsAreThoseOfLockstep) {
  for (const char* launch : {"grid", "static", "dynamic"}) {
    for (const int64_t capacity : {40, 4000}) {
      Request request = request_of(24, 60, 6);
      request.schedule.launch = {*Launches::find(launch)};
      request.l2_bytes = capacity * line_bytes;
      TimedParameters parameters = plain_parameters(6);
      parameters.l2.lines.capacity_lines = capacity;
      const Counters timed = simulate_timed(request, parameters).total;
      request.timing = Timing::lockstep_wave;
      const Counters lockstep = simulate_lru(request).total;
      EXPECT_EQ(timed.dram_read_sectors, lockstep.dram_read_sectors) << launch << capacity;
      EXPECT_EQ(timed.sm_read_sectors, lockstep.sm_read_sectors);
      EXPECT_EQ(timed.l2_write_sectors, lockstep.l2_write_sectors);
      EXPECT_EQ(timed.l2_write_miss_sectors, lockstep.l2_write_miss_sectors);
      EXPECT_EQ(timed.cold_read_sectors, lockstep.cold_read_sectors);
    }
  }
}

TimedParameters noisy_parameters(int64_t sms, int halves) {
  TimedParameters parameters = plain_parameters(sms);
  parameters.l2 = {.lines = {.halves = halves, .capacity_lines = 48, .ways = 4, .scattered = 0.02},
                   .near_ns = 150,
                   .far_ns = 250,
                   .dram_ns = 400,
                   .port_bytes_a_ns = 1,
                   .l2_bytes_a_ns = 4,
                   .dram_bytes_a_ns = 2,
                   .coalescer_sms = 2};
  parameters.step.exp_a_ns = 0.01;
  parameters.step.exposed_ns = 100;
  parameters.step.item_begin_ns = 100;
  parameters.step.item_end_ns = 200;
  parameters.step.jitter = 0.02;
  parameters.step.sm_spread = 0.001;
  parameters.step.age_bias = 0.5;
  parameters.step.start_spread_ns = 200;
  parameters.step.refill_ns = 300;
  return parameters;
}

// Whatever the schedule: what SMs receive is what the schedule says, DRAM gives at least every
// sector once and no more than L2 is asked for, the identity of the halves holds, and every
// worker's time is accounted for.
RC_GTEST_PROP(TimedWavefront, ConservesSectorsAndTime, ()) {
  Request request = tests::any_request();
  request.schedule.loop = Loop::kv_inner;
  request.schedule.prefetch = tests::between(0, 2);
  request.timing = Timing::timed;
  const int64_t sms = tests::between(1, 6);
  const auto halves = static_cast<int>(tests::between(1, 2));
  std::vector<SequenceLengths> lengths;  // no longer than the problem's
  const bool one_length = request.schedule.prefetch > 0 ||
                          request.schedule.launch == launch_id<BalancedLaunch> ||
                          tests::between(0, 1) == 0;
  for (int64_t i = 0; !one_length && i < request.problem.batch; ++i)
    lengths.push_back(
        {tests::between(0, request.problem.seq_q), tests::between(0, request.problem.seq_kv)});
  if (!one_length) request.sequences.lengths = lengths.data();
  TimedParameters parameters = noisy_parameters(sms, halves);
  if (tests::between(0, 1) == 1)
    parameters.step.leads =
        Leads{double(tests::between(0, 28)) / 4, double(tests::between(0, 28)) / 4};
  const Prediction prediction = simulate_timed(request, parameters);
  const Counters& c = prediction.total;
  Request lockstep = request;
  lockstep.timing = Timing::lockstep;
  RC_ASSERT(c.sm_read_sectors == simulate_lru(lockstep).total.sm_read_sectors);
  RC_ASSERT(c.l2_write_sectors == simulate_lru(lockstep).total.l2_write_sectors);
  RC_ASSERT(*c.dram_read_sectors >= *c.cold_read_sectors);
  const int64_t missed = *c.l2_read_miss_sectors - c.fabric_read_sectors.value_or(0) +
                         c.fabric_read_miss_sectors.value_or(0);
  // What a prefetch brings to one of two halves is no miss.
  RC_ASSERT(missed <= *c.dram_read_sectors);
  RC_ASSERT((halves == 2 && request.schedule.prefetch > 0) || missed == *c.dram_read_sectors);
  if (request.schedule.kv_split > 1) return;  // the combine pass is no worker's time
  double sum = 0;
  for (const TimeTerms& terms : prediction.phases) {
    sum = std::accumulate(terms.ns.begin(), terms.ns.end(), sum);
  }
  const int64_t workers = std::min(request.schedule.workers,
                                   item_count(request.problem, request.tiling, request.schedule));
  const double expected = double(workers) * *prediction.time_us * 1000;
  RC_ASSERT(std::abs(sum - expected) <= 1e-6 * expected);
}

// What misses has been asked for, in every model: no counter of misses exceeds that of its
// requests.
void assert_misses_are_of_requests(const Prediction& prediction) {
  const auto check = [](const Counters& c) {
    const int64_t far_misses = c.fabric_read_miss_sectors.value_or(0),
                  far = c.fabric_read_sectors.value_or(0),
                  near = c.l2_read_miss_sectors.value_or(0);
    RC_ASSERT(far_misses >= 0);
    RC_ASSERT(far_misses <= far);
    RC_ASSERT(far <= near);
    RC_ASSERT(near <= c.l2_read_sectors.value_or(0));
    RC_ASSERT(c.l2_write_miss_sectors.value_or(0) <= c.l2_write_sectors.value_or(0));
  };
  check(prediction.total);
  for (const Counters& of_tensor : prediction.by_tensor) check(of_tensor);
}

RC_GTEST_PROP(EveryModel, CountsNoMissWithoutItsRequest, ()) {
  const bool forward = tests::between(0, 2) > 0;
  Request request = forward ? tests::any_request() : tests::any_backward_request();
  request.schedule.prefetch = forward ? tests::between(0, 2) : 0;
  request.l2_bytes += 16 * line_bytes;
  HalvesParameters lines{.halves = static_cast<int>(tests::between(1, 2)),
                         .capacity_lines = request.l2_bytes / 2 / line_bytes,
                         .ways = static_cast<int>(tests::between(0, 4)),
                         .far_first_waiting = double(tests::between(0, 4)) / 4,
                         .far_first_running = double(tests::between(0, 4)) / 4};
  request.sets.ways = 1;
  assert_misses_are_of_requests(simulate_lru(request));
  assert_misses_are_of_requests(simulate_sets(request));
  if (forward) assert_misses_are_of_requests(simulate_opt(request));
  const CoalescerParameters coalescer{.sms = tests::between(0, 12),
                                      .waiting_share = double(tests::between(1, 4)) / 4,
                                      .running_share = double(tests::between(1, 4)) / 4};
  assert_misses_are_of_requests(simulate_halves(request, lines, coalescer));
  if (request.schedule.loop == Loop::kv_outer) return;
  request.timing = Timing::timed;
  request.schedule.small_kernels = false;
  request.schedule.dq = Dq::atomic;
  const int64_t sms = tests::between(1, 12);
  TimedParameters parameters = noisy_parameters(sms, lines.halves);
  parameters.l2.lines = lines;
  parameters.l2.coalescer_sms = static_cast<int>(tests::between(1, 6));
  assert_misses_are_of_requests(simulate_timed(request, parameters));
}

// The roofline of DRAM: no launch is shorter than its reads and writes at full bandwidth.
RC_GTEST_PROP(TimedWavefront, NoLaunchEndsBeforeItsDramTraffic, ()) {
  Request request = tests::any_request();
  request.schedule.loop = Loop::kv_inner;
  request.schedule.prefetch = tests::between(0, 2);
  request.timing = Timing::timed;
  TimedParameters parameters = noisy_parameters(tests::between(1, 6), tests::between(1, 2));
  parameters.l2.dram_bytes_a_ns = double(tests::between(1, 40)) / 20;
  if (tests::between(0, 1) == 1)
    parameters.step.leads =
        Leads{double(tests::between(0, 28)) / 4, double(tests::between(0, 28)) / 4};
  const Prediction prediction = simulate_timed(request, parameters);
  const Counters& c = prediction.total;
  const auto sectors = double(*c.dram_read_sectors + *c.dram_write_sectors);
  const double roofline_ns =
      (sectors - tensor_count) * sector_bytes / parameters.l2.dram_bytes_a_ns;
  RC_ASSERT(*prediction.time_us * 1000 >= roofline_ns);  // each tensor's counts are rounded
}

// One launch in three is the median of three, and the others are launches of chance alone: the
// seed's own schedule stays.
TEST(TimedWavefront, ThreeLaunchesGiveTheOneInTheMiddle) {
  Gpu gpu;
  gpu.sms = 2;
  gpu.l2_bytes = 16 * line_bytes;  // 8 tiles of K and V: two CTAs further apart share nothing
  gpu.latency_near_ns = 154;
  gpu.latency_dram_ns = 360;
  Request request = request_of(2, 512, 2);
  request.kernel.exposed_ns = 440;
  request.kernel.jitter = 0.3;
  request.l2_bytes = gpu.l2_bytes;
  std::vector<int64_t> reads;
  for (request.launch = 0; request.launch < 3; ++request.launch)
    reads.push_back(
        *simulate_timed(request, timed_parameters(request, gpu, false)).total.dram_read_sectors);
  request.launch = 0;
  EXPECT_NE(reads[0], reads[1]);
  EXPECT_EQ(*median_launch(request, gpu, false).total.dram_read_sectors, reads[0]);
  request.launches = 3;
  std::ranges::sort(reads);
  const Prediction middle = median_launch(request, gpu, false);
  EXPECT_EQ(*middle.total.dram_read_sectors, reads[1]);
  std::vector<int64_t> of_launches;
  for (const SimulatedLaunch& launch : middle.launches)
    of_launches.push_back(*launch.total.dram_read_sectors);
  std::ranges::sort(of_launches);
  EXPECT_EQ(of_launches, reads);
}

TEST(TimedWavefront, RefusesTheLoopThatItCannotReplay) {
  Request request = request_of(2, 2, 1);
  request.schedule.loop = Loop::kv_outer;
  EXPECT_THROW(simulate_timed(request, plain_parameters(1)), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
