// The published and derived figures of "Sawtooth Wavefront Reordering" (arXiv 2601.16032) on GB10:
// 48 SMs, 24 MiB of L2, batch 8, one head, S = 128K, D = 64, tiles 64x64.
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "sim/lru/simulate_lru.hpp"

namespace sawtooth::sim {
namespace {

constexpr int64_t gb10_l2_bytes = 24 * 1024 * 1024;

Request paper_point(MaskKind mask, ScanId scan) {
  Request request;
  request.problem = {.batch = 8, .seq_q = 131072, .seq_kv = 131072, .mask = {mask, 0}};
  request.schedule.workers = 48;
  request.schedule.scan = scan;
  request.l2_bytes = gb10_l2_bytes;
  return request;
}

TEST(Paper, UnmaskedReadMissesAre368MillionLinearAnd114MillionSawtooth) {
  for (const Timing timing : {Timing::lockstep, Timing::lockstep_wave}) {
    Request linear = paper_point(MaskKind::none, scan_id<LinearScan>);
    Request sawtooth = paper_point(MaskKind::none, scan_id<SawtoothScan>);
    linear.timing = timing;
    sawtooth.timing = timing;
    EXPECT_NEAR(double(*simulate_lru(linear).total.l2_read_miss_sectors), 368.05e6, 0.005 * 368e6);
    EXPECT_NEAR(double(*simulate_lru(sawtooth).total.l2_read_miss_sectors), 113.58e6,
                0.005 * 114e6);
  }
}

TEST(Paper, CompulsoryReadsAndSectorsAreTheClosedForms) {
  const Request request = paper_point(MaskKind::none, scan_id<LinearScan>);
  const Prediction prediction = simulate_lru(request);
  // Q, K and V of 8 batches: 3 x 131072 rows x 128 bytes in sectors of 32.
  EXPECT_EQ(*prediction.total.cold_read_sectors, 8 * 3 * 131072 * 4LL);
  // Reads and writes together: 8 S (1 + S / T) a batch.
  EXPECT_EQ(*prediction.total.l2_read_sectors + *prediction.total.l2_write_sectors,
            8 * 8 * 131072LL * (1 + 131072 / 64));
}

TEST(Paper, SectorsOfAnIndependentGb10ProfileToTheLastDigit) {
  // B = 1, H = 8, S = 4096, D = 128, T = 64: 34,078,720 without a mask, 17,563,648 causal.
  for (const auto& [mask, sectors] :
       {std::pair{MaskKind::none, 34078720LL}, std::pair{MaskKind::causal, 17563648LL}}) {
    Request request;
    request.problem = {.heads = 8,
                       .kv_heads = 8,
                       .seq_q = 4096,
                       .seq_kv = 4096,
                       .head_dim = 128,
                       .mask = {mask, 0}};
    request.schedule.workers = 48;
    const Prediction prediction = simulate_lru(request);
    EXPECT_EQ(*prediction.total.l2_read_sectors + *prediction.total.l2_write_sectors, sectors);
  }
}

struct CausalPoint {
  const char* name;
  QOrderId q_order;
  LaunchId launch;
  Timing timing;
  double linear_percent;
  double sawtooth_percent;
};

void PrintTo(const CausalPoint& point, std::ostream* out) {
  *out << point.name;
}

class PaperCausal : public ::testing::TestWithParam<CausalPoint> {};

// Read misses as a percentage of reads, as far as they are known in decimals.
TEST_P(PaperCausal, MissRateIsWithinAFewHundredthsOfAPoint) {
  constexpr double tolerance_percent_points = 0.05;
  const CausalPoint& point = GetParam();
  for (const bool sawtooth : {false, true}) {
    Request request =
        paper_point(MaskKind::causal, sawtooth ? scan_id<SawtoothScan> : scan_id<LinearScan>);
    request.schedule.order.q_order = point.q_order;
    request.schedule.launch = point.launch;
    request.timing = point.timing;
    const Counters total = simulate_lru(request).total;
    EXPECT_NEAR(100.0 * double(*total.l2_read_miss_sectors) / double(*total.l2_read_sectors),
                sawtooth ? point.sawtooth_percent : point.linear_percent, tolerance_percent_points)
        << (sawtooth ? "sawtooth" : "linear");
  }
}

constexpr QOrderId ascending = q_order_id<AscendingQ>;
constexpr QOrderId descending = q_order_id<DescendingQ>;
INSTANTIATE_TEST_SUITE_P(
    Points, PaperCausal,
    ::testing::Values(CausalPoint{"wave_ascending", ascending, launch_id<StaticLaunch>,
                                  Timing::lockstep_wave, 1.1, 0.31},
                      CausalPoint{"wave_descending", descending, launch_id<StaticLaunch>,
                                  Timing::lockstep_wave, 1.17, 0.31},
                      CausalPoint{"static_ascending", ascending, launch_id<StaticLaunch>,
                                  Timing::lockstep, 18.2, 9.6},
                      CausalPoint{"static_descending", descending, launch_id<StaticLaunch>,
                                  Timing::lockstep, 15.4, 8.5},
                      CausalPoint{"dynamic_ascending", ascending, launch_id<DynamicLaunch>,
                                  Timing::lockstep, 34.5, 8.8},
                      CausalPoint{"dynamic_descending", descending, launch_id<DynamicLaunch>,
                                  Timing::lockstep, 1.14, 0.45}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace sawtooth::sim
