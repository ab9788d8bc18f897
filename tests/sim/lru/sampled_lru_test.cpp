// Sampling against the exact engine on problems that are small enough for both.
#include "sim/lru/sampled_lru.hpp"

#include <cmath>

#include "sim/lru/simulate_lru.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

/// Some hundred tiles on a cache that holds a part of them.
Request any_larger_request() {
  Request request = tests::any_request();
  request.problem.batch = 1;
  request.problem.kv_heads = tests::between(1, 2);
  request.problem.heads = request.problem.kv_heads * tests::between(1, 2);
  request.problem.seq_q = tests::between(50, 150);
  request.problem.seq_kv = tests::between(50, 150);
  request.tiling = {tests::between(1, 3), tests::between(1, 2)};
  request.schedule.workers = tests::between(1, 24);
  request.l2_bytes = tests::between(20, 800) * 128;
  return request;
}

bool holds(const Interval& interval, int64_t truth) {
  return interval.low <= truth && truth <= interval.high;
}

TEST(SampledLru, IntervalsHoldTheTruthAsOftenAsTheySay) {
  int64_t intervals = 0;
  int64_t right = 0;
  double width = 0;
  // Estimate less truth as a share of a problem's reads, so that no large problem decides.
  double too_high = 0;
  double squares = 0;
  ASSERT_TRUE(rc::check([&] {
    Request request = any_larger_request();
    const Prediction exact = simulate_lru(request);
    request.sample = double(tests::between(1, 5)) / 10;
    Prediction sampled;
    try {
      sampled = simulate_sampled_lru(request);
    } catch (const std::invalid_argument&) {
      RC_DISCARD("too few tiles");
    }
    const Interval& reads = sampled.sampling->l2_read_miss_sectors;
    ++intervals;
    right += holds(reads, *exact.total.l2_read_miss_sectors);
    const auto all_reads = double(*exact.total.l2_read_sectors);
    width += double(reads.high - reads.low) / all_reads;
    const double error =
        double(*sampled.total.l2_read_miss_sectors - *exact.total.l2_read_miss_sectors) / all_reads;
    too_high += error;
    squares += error * error;
    RC_ASSERT(holds(reads, *sampled.total.l2_read_miss_sectors));
  }));
  EXPECT_GE(double(right), 0.95 * double(intervals));
  EXPECT_LT(width / double(intervals), 0.3);  // they say something
  // Too high as often as too low: the mean error is within five of its standard errors of zero.
  EXPECT_LT(std::abs(too_high), 5 * std::sqrt(squares));
}

// What needs no distance is not estimated: accesses, first touches, every miss of a cache of
// nothing.
RC_GTEST_PROP(SampledLru, CountsThatNeedNoDistanceAreExact, ()) {
  Request request = any_larger_request();
  const Prediction exact = simulate_lru(request);
  request.sample = 0.5;
  Prediction sampled;
  try {
    sampled = simulate_sampled_lru(request);
  } catch (const std::invalid_argument&) {
    RC_DISCARD("too few tiles");
  }
  RC_ASSERT(sampled.tile_visits == exact.tile_visits);
  for (size_t t = 0; t < tensor_count; ++t) {
    const Counters& one = sampled.by_tensor[t];
    const Counters& other = exact.by_tensor[t];
    RC_ASSERT(one.l2_read_sectors == other.l2_read_sectors);
    RC_ASSERT(one.l2_write_sectors == other.l2_write_sectors);
    RC_ASSERT(one.cold_read_sectors == other.cold_read_sectors);
    RC_ASSERT(count_lru(sampled.histogram, static_cast<Tensor>(t), 0).l2_read_miss_sectors ==
              other.l2_read_sectors);
  }
}

RC_GTEST_PROP(SampledLru, FollowingEveryTileIsExactAndItsIntervalHasNoWidth, ()) {
  const Request request = any_larger_request();  // sample is 1
  const Prediction exact = simulate_lru(request);
  const Prediction all = simulate_sampled_lru(request);
  RC_ASSERT(all.histogram.merged_bins() == exact.histogram.merged_bins());
  const int64_t misses = *exact.total.l2_read_miss_sectors;
  RC_ASSERT(all.sampling->l2_read_miss_sectors.low == misses);
  RC_ASSERT(all.sampling->l2_read_miss_sectors.high == misses);
  RC_ASSERT(all.sampling->tiles == all.sampling->all_tiles);
}

// Tiles of seven lines: a seventh of a whole distance has no exact double, and a distance that is
// off by its last bit is on the wrong side of the capacity that it equals.
TEST(SampledLru, DistancesOfWholeLinesMeetTheCapacityThatEqualsThem) {
  Request request;
  request.problem = {.seq_q = 145, .seq_kv = 145, .head_dim = 64};
  request.tiling = {.q_rows = 7, .kv_rows = 7};  // the last tile has five rows, lines
  request.schedule.workers = 3;
  request.schedule.scan = scan_id<SawtoothScan>;  // many distances
  for (int64_t lines = 1; lines <= 300; ++lines) {
    request.l2_bytes = lines * 128;
    const Prediction exact = simulate_lru(request);
    const Prediction all = simulate_sampled_lru(request);
    const int64_t misses = *exact.total.l2_read_miss_sectors;
    EXPECT_EQ(all.sampling->l2_read_miss_sectors.low, misses) << lines << " lines";
    EXPECT_EQ(all.sampling->l2_read_miss_sectors.high, misses) << lines << " lines";
  }
}

TEST(SampledLru, TooSmallAShareIsRefused) {
  Request request;
  request.problem = {.seq_q = 6400, .seq_kv = 6400};  // 400 tiles
  request.schedule.workers = 8;
  request.sample = 0.01;
  EXPECT_THROW(simulate_sampled_lru(request), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
