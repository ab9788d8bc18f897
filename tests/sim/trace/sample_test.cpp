// A share of a trace against the whole of it.
#include "sim/trace/sample.hpp"

#include <sstream>

#include <gmock/gmock.h>

#include "sim/trace/analyse.hpp"
#include "sim/trace/schedule_trace.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

std::string trace_of(const Request& request) {
  std::ostringstream out;
  write_schedule(request, *trace_writer(TraceFormat::binary, out, ""));
  return out.str();
}

Prediction sampled(const std::string& trace, int64_t l2_bytes, double sample, uint64_t seed) {
  std::istringstream in(trace);
  return sample_trace(*open_trace(in, "t", {}), l2_bytes, sample, seed);
}

Prediction whole(const std::string& trace, int64_t l2_bytes) {
  std::istringstream in(trace);
  return analyse_trace(*open_trace(in, "t", {}), l2_bytes, {});
}

/// Some hundred tiles on a cache that holds a part of them.
Request any_larger_request() {
  Request request = tests::any_request();
  request.problem.batch = 1;
  request.problem.heads = request.problem.kv_heads = tests::between(1, 3);
  request.problem.seq_q = tests::between(60, 150);
  request.problem.seq_kv = tests::between(60, 150);
  request.tiling = {tests::between(1, 3), tests::between(1, 2)};
  request.schedule.workers = tests::between(1, 24);
  request.l2_bytes = tests::between(20, 800) * 128;
  return request;
}

RC_GTEST_PROP(SampleTrace, FollowingEveryTileIsExactAndItsIntervalHasNoWidth, ()) {
  const Request request = any_larger_request();
  const std::string trace = trace_of(request);
  const Prediction exact = whole(trace, request.l2_bytes);
  const Prediction all = sampled(trace, request.l2_bytes, 1, 0);
  RC_ASSERT(all.tile_visits == exact.tile_visits);
  RC_ASSERT(all.total.l2_read_sectors == exact.total.l2_read_sectors);
  RC_ASSERT(all.total.l2_read_miss_sectors == exact.total.l2_read_miss_sectors);
  RC_ASSERT(all.total.l2_write_miss_sectors == exact.total.l2_write_miss_sectors);
  RC_ASSERT(all.sampling->l2_read_miss_sectors.low == *exact.total.l2_read_miss_sectors);
  RC_ASSERT(all.sampling->l2_read_miss_sectors.high == *exact.total.l2_read_miss_sectors);
}

TEST(SampleTrace, IntervalsHoldTheTruthAsOftenAsTheySay) {
  int64_t intervals = 0, right = 0;
  double width = 0;
  ASSERT_TRUE(rc::check([&] {
    const Request request = any_larger_request();
    const std::string trace = trace_of(request);
    const Prediction exact = whole(trace, request.l2_bytes);
    Prediction share;
    try {
      share = sampled(trace, request.l2_bytes, double(tests::between(2, 6)) / 10, 3);
    } catch (const std::invalid_argument&) {
      RC_DISCARD("too few tiles");
    }
    RC_ASSERT(share.total.l2_read_sectors == exact.total.l2_read_sectors);  // needs no distance
    const Interval& reads = share.sampling->l2_read_miss_sectors;
    const int64_t truth = *exact.total.l2_read_miss_sectors;
    ++intervals;
    right += reads.low <= truth && truth <= reads.high;
    width += double(reads.high - reads.low) / double(*exact.total.l2_read_sectors);
  }));
  EXPECT_GE(double(right), 0.95 * double(intervals));
  EXPECT_LT(width / double(intervals), 0.3);  // they say something
}

TEST(SampleTrace, TooFewTilesAndRunsBackwardsAreRefused) {
  EXPECT_THROW(sampled("line\n1\n2\n1\n", 1 << 20, 0.5, 0), std::invalid_argument);
  EXPECT_THROW(sampled("line,lines,direction\n0,4,forwards\n0,4,backwards\n", 1 << 20, 0.5, 0),
               TraceError);
}

}  // namespace
}  // namespace sawtooth::sim
