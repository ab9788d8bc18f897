// Stamps of simulated launches, with late clocks and lost stamps, must lead back to the schedule.
#include "experiments/sawtooth/order/find_schedule.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/results/wavefront_tables.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/request.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

constexpr Command order_command = command_named("order");

constexpr int64_t step_ns = 1000;

const std::string header = "cta,item,tile,sm,time_ns\n";

std::string stamp(int64_t cta, int64_t item, int64_t tile, int64_t sm, int64_t ns) {
  return std::to_string(cta) + "," + std::to_string(item) + "," + std::to_string(tile) + "," +
         std::to_string(sm) + "," + std::to_string(ns) + "\n";
}

sim::Request request_of(LaunchId launch, ScanId scan, int64_t section, QOrderId q_order) {
  sim::Request request;
  request.problem = {
      .batch = 1, .heads = 6, .kv_heads = 6, .seq_q = 832, .seq_kv = 1280, .head_dim = 64};
  request.tiling = {64, 64};  // 13 Q tiles, 20 K/V tiles
  // Items of one length are taken in turn, as static gives them; under a mask tickets show.
  if (launch == launch_id<DynamicLaunch>) request.problem.mask.kind = MaskKind::causal;
  request.schedule.launch = launch;
  request.schedule.scan = scan;
  request.schedule.order.section = section;
  request.schedule.order.q_order = q_order;
  request.schedule.workers = 10;
  return request;
}

/// CSV of stamps: the lockstep wavefront in time, every stamp late by up to `jitter` steps, a share
/// of them lost. Under grid a CTA is an item's place, as the hardware numbers them.
std::string stamps_of(const sim::Request& request, double jitter, double lost, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const bool grid = request.schedule.launch == launch_id<GridLaunch>;
  const int64_t q_tiles = sawtooth::q_tiles(request.problem, request.tiling);
  std::string text = header;
  const Wavefront wavefront = wavefront_steps(request, 1'000'000);
  for (const WavefrontStep& at : wavefront.steps) {
    const double late = jitter * uniform(random) * step_ns;
    if (uniform(random) < lost) continue;
    text += stamp(grid ? at.item : at.worker, at.head * q_tiles + at.q_tile, at.kv_tile,
                  at.worker % 5, 7'000'000 + at.step * step_ns + static_cast<int64_t>(late));
  }
  return text;
}

FoundSchedule found_in(const std::string& text, int64_t q_tiles = 13) {
  return find_schedule(read_stamps(parse_csv(text, "stamps.csv"), q_tiles));
}

class FindSchedule : public testing::TestWithParam<int> {};

TEST_P(FindSchedule, LaunchScanSectionAndQOrderComeBackFromJitteredAndLostStamps) {
  const LaunchId launch{GetParam()};
  int same_names = 0, all = 0;
  for (int scan = 0; scan < Scans::size; ++scan) {
    for (const int64_t section : {1, 4, 6}) {
      for (int q_order = 0; q_order < QOrders::size; ++q_order) {
        sim::Request request = request_of(launch, ScanId{scan}, section, QOrderId{q_order});
        request.schedule.seed = 5;
        const FoundSchedule found = found_in(stamps_of(request, 0.9, 0.03, 11));
        SCOPED_TRACE(std::string(Launches::info()[size_t(GetParam())].name) + " " +
                     std::string(Scans::info()[size_t(scan)].name) + " section " +
                     std::to_string(section) + " " +
                     std::string(QOrders::info()[size_t(q_order)].name));
        // Schedules of other names may be the same launch; what they do tells.
        sim::Request again = request;
        again.schedule.launch = {Launches::find(found.launch).value()};
        again.schedule.scan = {Scans::find(found.scan).value()};
        again.schedule.order.section = found.section;
        again.schedule.order.q_order = {QOrders::find(found.q_order).value()};
        again.schedule.workers = found.workers;
        EXPECT_EQ(stamps_of(again, 0, 0, 0), stamps_of(request, 0, 0, 0))
            << found.launch << " " << found.workers << " " << found.section << " " << found.q_order
            << " " << found.scan;
        same_names += found.launch == Launches::info()[size_t(GetParam())].name &&
                      found.scan == Scans::info()[size_t(scan)].name;
        ++all;
        EXPECT_TRUE(found.describes_order());
      }
    }
  }
  EXPECT_GT(same_names, all / 2);  // not all of them by another name
}
INSTANTIATE_TEST_SUITE_P(AllLaunches, FindSchedule, testing::Range(0, int(Launches::size)));

TEST(FindScheduleOf, AShuffledGridIsAnExplicitOrderThatSimulateCanReplay) {
  const sim::Request request =
      request_of(launch_id<GridLaunch>, scan_id<LinearScan>, 1, q_order_id<AscendingQ>);
  std::vector<int64_t> shuffled(78);
  for (size_t i = 0; i < shuffled.size(); ++i)
    shuffled[i] = int64_t(i * 29 % 78);  // 29, 78 coprime
  std::string text = header;
  for (size_t cta = 0; cta < shuffled.size(); ++cta) {
    for (int64_t tile = 0; tile < 20; ++tile)
      text += stamp(int64_t(cta), shuffled[cta], tile, 0, int64_t(cta / 10) * 20 + tile);
  }
  const Stamps stamps = read_stamps(parse_csv(text, "s"), 13);
  const FoundSchedule found = find_schedule(stamps);
  EXPECT_EQ(found.launch, "grid");
  EXPECT_FALSE(found.describes_order());
  const std::vector<WorkCoordinates> order = observed_order(stamps, found);
  ASSERT_EQ(order.size(), 78u);
  for (size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(order[i].head * 13 + order[i].own_tile, shuffled[i]);
}

TEST(FindScheduleOf, WavesOfAGridAreFoundWhereAllItsCtasRunAtOnce) {
  std::string text = header;
  for (int64_t item = 0; item < 78; ++item)
    for (int64_t step = 0; step < 20; ++step)
      text += stamp(item, item, item / 11 % 2 == 0 ? step : 19 - step, 0, step * step_ns);
  const FoundSchedule found = found_in(text);
  EXPECT_EQ(found.launch, "grid");
  EXPECT_EQ(found.scan, "sawtooth");
  EXPECT_EQ(found.workers, 11);
  EXPECT_EQ(found.steps_in_order, 1);
}

// So many that some runs say which sections are judged by all of them.
TEST(FindScheduleOf, TheSectionOfThousandsOfHeadsComesBack) {
  for (const bool grid : {false, true}) {
    sim::Request request = request_of(grid ? launch_id<GridLaunch> : launch_id<StaticLaunch>,
                                      scan_id<LinearScan>, 1234, q_order_id<FoldQ>);
    request.problem.heads = request.problem.kv_heads = 3000;
    request.problem.seq_q = request.problem.seq_kv = 128;
    request.tiling = {32, 64};  // 4 Q tiles, 2 K/V tiles
    request.schedule.workers = 132;
    const FoundSchedule found = found_in(stamps_of(request, 0.9, 0.03, 3), 4);
    EXPECT_EQ(found.launch, grid ? "grid" : "static");
    EXPECT_EQ(found.section, 1234);
    EXPECT_EQ(found.q_order, "fold");
    EXPECT_GT(found.items_in_place, 0.99);
  }
}

// CTAs that begin together draw their first tickets in any order, here from the last to the first.
TEST(FindScheduleOf, TicketsAreFoundWhateverTheOrderOfTheFirstOnes) {
  constexpr int64_t ctas = 40, q_tiles = 13, items = 78;
  std::multimap<int64_t, int64_t> free;  // when -> CTA
  std::string text = header;
  for (int64_t ticket = 0; ticket < items; ++ticket) {
    int64_t cta = ctas - 1 - ticket, begin = 100 * cta;
    if (ticket >= ctas) {
      const auto first = free.begin();
      cta = first->second;
      begin = first->first;
      free.erase(first);
    }
    const int64_t q_tile = q_tiles - 1 - ticket % q_tiles;  // descending, head by head
    const int64_t item = ticket / q_tiles * q_tiles + q_tile;
    for (int64_t tile = 0; tile <= q_tile; ++tile)
      text += stamp(cta, item, tile, 0, begin + tile * step_ns);
    free.emplace(begin + (q_tile + 1) * step_ns, cta);
  }
  const FoundSchedule found = found_in(text, q_tiles);
  EXPECT_EQ(found.launch, "dynamic");
  EXPECT_EQ(found.section, 1);
  EXPECT_EQ(found.q_order, "descending");
  EXPECT_EQ(found.scan, "linear");
  EXPECT_EQ(found.items_in_place, 1);
}

TEST(FindScheduleOf, DriftIsTheDistanceOfCtasOnOneHead) {
  // Two CTAs on head 0, the second one three tiles behind all the time.
  std::string text = header;
  for (int64_t tile = 0; tile < 50; ++tile) {
    text += stamp(0, 0, tile, 0, tile * step_ns);
    text += stamp(1, 1, tile, 1, (tile + 3) * step_ns);
  }
  const Stamps stamps = read_stamps(parse_csv(text, "s"), 2);
  const Drift drift = drift_of(stamps, find_schedule(stamps));
  EXPECT_EQ(drift.step_ns, step_ns);
  EXPECT_EQ(drift.median_tiles, 3);
  EXPECT_EQ(drift.p95_tiles, 3);
}

// Times of a GPU's clock are nanoseconds since 1970, of which a double has not all digits.
TEST(FindScheduleOf, TimesKeepAllTheirDigits) {
  const Stamps stamps = read_stamps(parse_csv(header + stamp(0, 0, 1, 0, 1764300000000000003) +
                                                  stamp(0, 0, 0, 0, 1764300000000000001),
                                              "s.csv"),
                                    1);
  EXPECT_EQ(stamps.steps[1].start_ns, 2);
  EXPECT_EQ(stamps.steps[1].kv_tile, 1);
}

TEST(FindScheduleOf, WhatNoStampSpeaksOfTakesNoMemory) {
  for (const char* rows :
       {"0,300000000,0,0,0\n0,0,0,0,5\n", "0,0,300000000,0,0\n0,0,0,0,5\n",
        "0,9223372036854775807,0,0,0\n", "0,0,9223372036854775807,0,0\n",
        "0,0,0,0,0\n0,0,1,0,9\n0,0,2,0,18\n1,1,0,0,0\n1,1,1,0,1000000000000\n"}) {
    const CsvTable table = parse_csv(header + rows, "s.csv");
    EXPECT_THROW(read_stamps(table, 1), UsageError) << rows;
  }
  EXPECT_THROW(read_stamps(parse_csv(header + "0,0,0,0,0\n", "s"), INT64_MAX), UsageError);
}

TEST(FindScheduleOf, WhatAreNoStampsNamesFileLineAndColumn) {
  const auto refusal = [](const std::string& text, int64_t q_tiles) {
    return test::message_of<UsageError>([&] { read_stamps(parse_csv(text, "s.csv"), q_tiles); });
  };
  EXPECT_EQ(refusal(header + "0,0,0,0,1\n0,x,0,0,1\n", 4), "s.csv:3: item: 'x' is no number");
  EXPECT_NE(refusal("cta,item\n1,2\n", 4).find("s.csv: has no column tile; allowed: stamps with"),
            std::string::npos);
  EXPECT_NE(refusal(header + "0,0,0,0,1\n", 0).find("--q-tiles: not given"), std::string::npos);
  EXPECT_EQ(refusal(header, 4), "s.csv: has no stamps");
}

TEST(FindScheduleOf, ItemsOfOneStepTakeWhatPassesToTheNextOne) {
  for (const int ctas : {132, 1056}) {  // static, grid
    std::string text = header;
    for (int item = 0; item < 1056; ++item)
      text += stamp(item % ctas, item, 0, item % 132, item / 132 * 2500);
    const Stamps stamps = read_stamps(parse_csv(text, "s.csv"), 8);
    EXPECT_EQ(drift_of(stamps, find_schedule(stamps)).step_ns, 2500);
  }
}

TEST(FindScheduleOf, TheCommandPrintsAConfigurationAndWritesItsFiles) {
  const test::TemporaryFolder folder;
  const std::string stamps = folder.write(
      "stamps.csv", stamps_of(request_of(launch_id<StaticLaunch>, scan_id<SawtoothScan>, 6,
                                         q_order_id<AscendingQ>),
                              0.5, 0, 1));
  testing::internal::CaptureStdout();
  EXPECT_EQ(
      run_order(order_command, {stamps, "--q-tiles", "13", "--order-file", folder.path("order.txt"),
                                "--wavefront", folder.path("wavefront.csv")}),
      0);
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_NE(out.find("launch = static\nworkers = 10\nsection = 6\nq-order = ascending"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("scan = sawtooth  # steps in order: 100.0 %"), std::string::npos) << out;
  EXPECT_TRUE(folder.read("order.txt").starts_with("0 0 0\n0 1 0\n0 2 0\n"));
  EXPECT_EQ(parse_csv(folder.read("wavefront.csv"), "w").header.front(), "run_id");
}

}  // namespace
}  // namespace sawtooth::experiments
