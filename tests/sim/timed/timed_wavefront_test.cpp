// Durations and counts of the timed wavefront, derived by hand, from its limits and from sums.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/timed/placement.hpp"
#include "sim/timed/simulate_timed.hpp"
#include "sim/timed/step_cost.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

// Rows of one line, tiles of one row: a step has 2 x 2 x 1 x 64 FLOP.
constexpr double flop_a_step = 256;
constexpr double step_ns = 1000;

Request request_of(int64_t q_tiles, int64_t kv_tiles, int64_t workers) {
  Request request;
  request.problem = {.seq_q = q_tiles, .seq_kv = kv_tiles, .head_dim = 64};
  request.tiling = {1, 1};
  request.schedule.workers = workers;
  request.timing = Timing::timed;
  return request;
}

// Steps of 1000 ns, no latency, no limits, an L2 that holds everything.
TimedParameters plain_parameters(int64_t sms) {
  TimedParameters parameters;
  parameters.sms = sms;
  parameters.l2.lines.capacity_lines = 1'000'000'000;
  parameters.step.tensor_flop_a_ns = flop_a_step / step_ns;
  return parameters;
}

double duration_ns(const Request& request, const TimedParameters& parameters) {
  return *simulate_timed(request, parameters).time_us * 1000;
}

TEST(TimedWavefront, ALoneWorkerTakesItsStepsAndTheLatencyOfTheFirstLoad) {
  TimedParameters parameters = plain_parameters(1);
  parameters.l2.dram_ns = 400;
  // Q and the first tile come after 400 ns; every later tile is asked for a step ahead.
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 400 + 4 * step_ns, 1e-6);
}

TEST(TimedWavefront, LatencyBeyondAStepStallsEveryStep) {
  TimedParameters parameters = plain_parameters(1);
  parameters.l2.dram_ns = 1500;
  // Each tile is asked for when the step before begins, so steps begin 1500 ns apart.
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 4 * 1500 + step_ns, 1e-6);
  parameters.stalls = false;
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 1500 + 4 * step_ns, 1e-6);
}

TEST(TimedWavefront, AThirdStageHidesTwoStepsOfLatency) {
  TimedParameters parameters = plain_parameters(1);
  parameters.l2.dram_ns = 1500;
  parameters.step.stages = 3;
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 1500 + 4 * step_ns, 1e-6);
}

// Q comes after 400 ns; then each step waits 400 ns for K, computes half of its time, waits 400 ns
// for V and computes the rest.
TEST(TimedWavefront, AKernelWithoutLeadWaitsForKAndForV) {
  TimedParameters parameters = plain_parameters(1);
  parameters.l2.dram_ns = 400;
  parameters.step.leads = Leads{0, 0};
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 400 + 4 * (400 + 400 + step_ns), 1e-6);
  parameters.stalls = false;
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 400 + 4 * step_ns, 1e-6);
}

// Tiles that are asked for 300 ns before their use come 100 ns late; the first K comes with Q.
TEST(TimedWavefront, ALeadHidesItsPartOfALatency) {
  TimedParameters parameters = plain_parameters(1);
  parameters.l2.dram_ns = 400;
  parameters.step.leads = Leads{0.3, 0.3};
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 400 + 4 * step_ns + 7 * 100, 1e-6);
  parameters.step.leads = Leads{0.3, 0.4};
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 400 + 4 * step_ns + 3 * 100, 1e-6);
  parameters.step.leads = Leads{2.25, 0.5};
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 400 + 4 * step_ns, 1e-6);
}

// V half a step after K, each asked for when the step before begins: as one load of two stages.
TEST(TimedWavefront, LeadsOfAStepAreThoseOfTwoStages) {
  for (const double dram_ns : {400.0, 1500.0, 2500.0}) {
    TimedParameters parameters = plain_parameters(1);
    parameters.l2.dram_ns = dram_ns;
    const double two_stages = duration_ns(request_of(2, 5, 1), parameters);
    parameters.step.leads = Leads{1, 1.5};
    EXPECT_NEAR(duration_ns(request_of(2, 5, 1), parameters), two_stages, 1e-6);
  }
}

TEST(TimedWavefront, RefusesLeadsBeyondItsStages) {
  for (const Leads leads : {Leads{7.5, 0}, Leads{0, 7.5}, Leads{-1, 0}}) {
    TimedParameters parameters = plain_parameters(1);
    parameters.step.leads = leads;
    EXPECT_THROW(simulate_timed(request_of(1, 2, 1), parameters), std::invalid_argument);
  }
}

TEST(TimedWavefront, ExposedTimeAndItemCostsAddUp) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.exposed_ns = 50;
  parameters.step.item_begin_ns = 30;
  parameters.step.item_end_ns = 20;
  parameters.step.launch_ns = 7;
  EXPECT_NEAR(duration_ns(request_of(2, 3, 1), parameters), 7 + 2 * (30 + 3 * 1050 + 20), 1e-6);
}

// Two TPCs of one GPC: the items of the second end 100 ns later than usual, those of the first 100
// ns earlier, and the launch ends with the later ones.
TEST(TimedWavefront, ItemsOfTheTpcThatStartsLastTakeLonger) {
  TimedParameters parameters = plain_parameters(4);
  parameters.step.item_end_ns = 300;
  const Request request = request_of(8, 3, 4);
  EXPECT_NEAR(duration_ns(request, parameters), 2 * (3 * step_ns + 300), 1e-6);
  parameters.step.item_spread_ns = 200;
  EXPECT_NEAR(duration_ns(request, parameters), 2 * (3 * step_ns + 300 + 100), 1e-6);
}

// Two CTAs on an SM, with items of 11 and 12 steps. The tile's one line falls to the second one,
// which so takes 1.1 times the 2000 ns that a shared step takes, and the other one 0.9 times. The
// first CTA's first step is a lone one, so it ends at 1000 + 10 * 1800 = 19000 ns. The second one
// is then in its ninth step of 2200 ns, to 19800 ns, and takes three more alone.
TEST(TimedWavefront, ACtaWithPrefetchesOfItsOwnFallsBehindOneWithout) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.prefetch_shared.lines_bias = 0.1;
  Request request = request_of(2, 12, 2);
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.prefetch = 1;
  EXPECT_NEAR(duration_ns(request, parameters), 9 * 2200 + 3 * step_ns, 1e-6);
}

TEST(TimedWavefront, TwoWorkersOnOneTileReadItOnce) {
  TimedParameters parameters = plain_parameters(2);
  parameters.l2.dram_ns = 400;
  const Prediction prediction = simulate_timed(request_of(2, 1, 2), parameters);
  EXPECT_EQ(*prediction.total.dram_read_sectors, 4 * (2 + 1 + 1));  // two Q rows, K, V
  EXPECT_EQ(*prediction.total.sm_read_sectors, 4 * (2 + 2 + 2));
  EXPECT_NEAR(*prediction.time_us, (400 + step_ns) / 1000, 1e-9);
}

// Causal, one row a tile: items of 1, 2, 3 and 4 steps, two workers, longest first. By tickets
// they take 4 | 3, then 2 goes to the second at 3000 and 1 to the first at 4000: 5000. By stride
// they take 4, 2 | 3, 1: 6000.
TEST(TimedWavefront, TicketsGoToWhoIsFreeFirst) {
  Request request = request_of(4, 4, 2);
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.order.q_order = {*QOrders::find("descending")};
  request.schedule.launch = launch_id<DynamicLaunch>;
  const TimedParameters parameters = plain_parameters(2);
  EXPECT_NEAR(duration_ns(request, parameters), 5000, 1e-6);
  request.schedule.launch = launch_id<GridLaunch>;
  EXPECT_NEAR(duration_ns(request, parameters), 5000, 1e-6);
  request.schedule.launch = launch_id<StaticLaunch>;
  EXPECT_NEAR(duration_ns(request, parameters), 6000, 1e-6);
}

TEST(TimedWavefront, TwoCtasOfAnSmShareItsPipesAndHideExposedTime) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.exposed_ns = 500;
  // Alone 1500 ns a step; two take 2000 ns each, for 1000 ns of pipes are to be had by each.
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 4 * 1500, 1e-6);
  EXPECT_NEAR(duration_ns(request_of(2, 4, 2), parameters), 4 * 2000, 1e-6);
  parameters.sharing = false;
  EXPECT_NEAR(duration_ns(request_of(2, 4, 2), parameters), 4 * 1500, 1e-6);
}

TEST(StepCost, SharesOfAnSmAreUnequalAndAddUpToIt) {
  const StepCost cost{.tensor_ns = 800, .exp_ns = 200, .exposed_ns = 100, .bias = 0.1};
  for (int ctas = 2; ctas <= 5; ++ctas) {
    double shares = 0;
    for (int rank = 0; rank < ctas; ++rank) shares += cost.pipe_ns() / cost.shared_ns(ctas, rank);
    EXPECT_NEAR(shares, 1, 1e-12);
    EXPECT_LT(cost.shared_ns(ctas, 0), cost.shared_ns(ctas, ctas - 1));
  }
  EXPECT_NEAR(cost.shared_ns(2, 0), 2000 / 1.1, 1e-9);
}

// 4 lines of a K tile for 3 sharers: 1, 1 and 2 lines each, or for 5: one of them has none.
TEST(TimedWavefront, WorkersWithoutLinesToPrefetchRunAhead) {
  Request request = request_of(5, 64, 5);
  request.problem.seq_q = 20;
  request.problem.seq_kv = 256;
  request.tiling = {4, 4};
  request.schedule.prefetch = 2;
  TimedParameters parameters = plain_parameters(5);
  parameters.step.tensor_flop_a_ns = 16 * flop_a_step / step_ns;
  parameters.step.prefetch.lines_ns = 10;
  EXPECT_NEAR(duration_ns(request, parameters), 64 * (step_ns + 10), 1e-6);
  const Prediction prediction = simulate_timed(request, parameters);
  double sharing = 0;
  for (const TimeTerms& terms : prediction.phases) sharing += terms[TimeTerm::sharing];
  EXPECT_NEAR(sharing, 4 * 64 * 10, 1e-6);  // four of five pay
}

// Of two sharers the second has lines 2 and 3 of a tile, and the last tile ends before them.
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

TEST(TimedWavefront, TheSameSeedGivesTheSameCountsAndAnotherNearlySo) {
  Request request = request_of(64, 200, 8);
  request.problem.mask.kind = MaskKind::causal;
  request.problem.seq_q = 200;
  const TimedParameters parameters = noisy_parameters(4, 2);
  const Prediction first = simulate_timed(request, parameters);
  const Prediction again = simulate_timed(request, parameters);
  EXPECT_EQ(*first.time_us, *again.time_us);
  for (const CounterColumn& column : counter_columns) {
    EXPECT_EQ(first.total.*column.member, again.total.*column.member) << column.name;
  }
  request.schedule.seed = 1;
  const Prediction other = simulate_timed(request, parameters);
  EXPECT_NE(*first.time_us, *other.time_us);
  EXPECT_NEAR(*other.time_us / *first.time_us, 1, 0.01);
}

// Sequences of two Q tiles and of one, four K/V tiles each: the fourth item is void.
TEST(TimedWavefront, AVoidItemTakesTheBeginOfAnItemAlone) {
  const std::vector<SequenceLengths> lengths{{2, 4}, {1, 4}};
  Request request = request_of(2, 4, 1);
  request.problem.batch = 2;
  request.sequences.lengths = lengths.data();
  TimedParameters parameters = plain_parameters(1);
  parameters.step.item_begin_ns = 30;
  parameters.step.item_end_ns = 20;
  EXPECT_NEAR(duration_ns(request, parameters), 3 * (30 + 4 * step_ns + 20) + 30, 1e-6);
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
  RC_ASSERT(*c.l2_read_miss_sectors - c.fabric_read_sectors.value_or(0) +
                c.fabric_read_miss_sectors.value_or(0) ==
            *c.dram_read_sectors);
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

// An item a head on each SM of an H200; `kv_heads` of equally many heads that follow each other.
Request head_an_sm(int64_t kv_heads, std::string_view launch) {
  Request request = request_of(1, 1, 132);
  request.problem.heads = 132;
  request.problem.kv_heads = kv_heads;
  request.schedule.launch = {*Launches::find(launch)};
  return request;
}

// The SMs of an H200, and a nanosecond from half to half.
TimedParameters two_halves() {
  TimedParameters parameters = plain_parameters(132);
  parameters.l2.lines.halves = 2;
  parameters.l2.near_ns = 1;
  parameters.l2.far_ns = 2;
  parameters.ticket_hop_ns = 1;
  return parameters;
}

int64_t kv_sectors_that_cross(const Request& request, const TimedParameters& parameters) {
  const Prediction prediction = simulate_timed(request, parameters);
  return *prediction.by_tensor[static_cast<size_t>(Tensor::k)].fabric_read_sectors +
         *prediction.by_tensor[static_cast<size_t>(Tensor::v)].fabric_read_sectors;
}

// 132 heads of one Q and one K/V tile; 0 to 65 share a K/V head, 66 to 131 another. All CTAs begin
// at once, so the half of the ticket counter gets the first 66 tickets: a K/V head is read by one
// half alone, and half of its lines cross the fabric. Without that way to the counter, or where
// CTAs begin over a hundred times as long, both halves read both heads and each line crosses. K and
// V of a head are 2 lines.
TEST(TimedWavefront, FirstTicketsGoToTheNearHalfUnlessCtasBeginFurtherApart) {
  const Request request = head_an_sm(2, "dynamic");
  TimedParameters parameters = two_halves();
  const auto crossed = [&] { return kv_sectors_that_cross(request, parameters); };
  const int64_t sectors = 2 * 2 * 4;
  EXPECT_EQ(crossed(), sectors / 2);
  parameters.step.start_spread_ns = 100;
  EXPECT_EQ(crossed(), sectors);
  parameters.step.start_spread_ns = 0.5;
  EXPECT_EQ(crossed(), sectors / 2);
  parameters.ticket_race = false;
  EXPECT_EQ(crossed(), sectors);
}

// As above, but the die has every second SM at half 1, and the counter there: SMs of half 1 are the
// first, whatever the usual halves are.
TEST(TimedWavefront, FirstTicketsGoToTheNearHalfOfAKnownDie) {
  const Request request = head_an_sm(2, "dynamic");
  TimedParameters parameters = two_halves();
  for (int sm = 0; sm < 132; ++sm) parameters.l2.half_of_sms.push_back(sm % 2);
  parameters.ticket_half = 1;
  EXPECT_EQ(kv_sectors_that_cross(request, parameters), 2 * 2 * 4 / 2);
  parameters.ticket_hop_ns = 0;
  EXPECT_EQ(kv_sectors_that_cross(request, parameters), 2 * 2 * 4);
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
  const Prediction one_thread = median_launch(request, gpu, false);
  EXPECT_EQ(*one_thread.total.dram_read_sectors, reads[1]);
  std::vector<int64_t> of_launches;
  for (const SimulatedLaunch& launch : one_thread.launches)
    of_launches.push_back(*launch.total.dram_read_sectors);
  std::ranges::sort(of_launches);
  EXPECT_EQ(of_launches, reads);
  for (request.threads = 2; request.threads < 5; ++request.threads) {
    const Prediction several = median_launch(request, gpu, false);
    EXPECT_EQ(several.time_us, one_thread.time_us);
    for (const CounterColumn& counter : counter_columns)
      EXPECT_EQ(several.total.*counter.member, one_thread.total.*counter.member);
  }
}

// 132 causal items, the longest first, with 132 steps. The SMs of half 1 are slower by a tenth, so
// the launch is as long as that item on the half that draws the first ticket.
TEST(TimedWavefront, TheFirstTicketIsDrawnInTheHalfOfTheCounter) {
  Request request = request_of(132, 132, 132);
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.order.q_order = {*QOrders::find("descending")};
  request.schedule.launch = {*Launches::find("dynamic")};
  TimedParameters parameters = two_halves();
  for (const PlacedSm& sm : placed_sms(132, 2))
    parameters.step.sm_slowness.push_back(sm.half == 1 ? 0.1 : 0);
  for (const int half : {0, 1}) {
    parameters.ticket_half = half;
    EXPECT_NEAR(duration_ns(request, parameters), 132 * step_ns * (half == 1 ? 1.1 : 1), 100);
  }
}

// Two CTAs of an SM that alternate have one luck, so that both end together however it falls;
// others go their own ways. The first CTA's first step is a lone one: they are never quite in step.
TEST(TimedWavefront, CtasInStepHaveOneLuck) {
  const auto spread_of_ends = [&](bool in_step) {
    TimedParameters parameters = plain_parameters(1);
    parameters.step.jitter_in_step = parameters.step.jitter_shared = 0.2;
    parameters.step.in_step = in_step;
    double sum = 0, squares = 0;
    constexpr int seeds = 64;
    for (int seed = 0; seed < seeds; ++seed) {
      Request request = request_of(2, 256, 2);
      request.schedule.seed = static_cast<uint64_t>(seed);
      double idle = 0;
      for (const TimeTerms& terms : simulate_timed(request, parameters).phases)
        idle += terms.ns[static_cast<size_t>(TimeTerm::idle)];
      sum += idle;
      squares += idle * idle;
    }
    return std::sqrt(squares / seeds - sum * sum / seeds / seeds);
  };
  EXPECT_LT(spread_of_ends(true), spread_of_ends(false) / 2);
}

// Whoever begins first, CTA w of a grid is item w. Four heads that follow each other share a K/V
// head. GPCs have 8, 8, 16 ... 16 and twice 18 SMs in the order of CTAs, so but for the four on the
// border of the last two, which are of two halves, all of them sit at one half: half of the two
// lines of K and V crosses the fabric, on the border both do.
TEST(TimedWavefront, UnderGridTheFirstItemsGoInTheOrderOfCtas) {
  TimedParameters parameters = plain_parameters(132);
  parameters.l2.lines.halves = 2;
  parameters.step.start_spread_ns = 200;
  EXPECT_EQ(kv_sectors_that_cross(head_an_sm(33, "grid"), parameters), 32 * 4 + 8);
}

TEST(TimedWavefront, RefusesTheLoopThatItCannotReplay) {
  Request request = request_of(2, 2, 1);
  request.schedule.loop = Loop::kv_outer;
  EXPECT_THROW(simulate_timed(request, plain_parameters(1)), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
