#include "sim/lru/simulate_lru.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"
#include "tests/support/same_predictions.hpp"

namespace sawtooth::sim {
namespace {

void expect_same(const Prediction& one, const Prediction& other) {
  RC_ASSERT(tests::same_histogram(one.histogram, other.histogram));
  RC_ASSERT(one.steps == other.steps);
  RC_ASSERT(one.tile_visits == other.tile_visits);
}

/// Many Q tiles for few workers, so that rounds repeat; sections, GQA and ragged tiles as they
/// come.
Request any_request_with_rounds() {
  Request request = tests::any_request();
  request.problem.mask = {};
  request.problem.seq_q = tests::between(1, 120);
  request.problem.seq_kv = tests::between(1, 12);
  request.tiling.q_rows = tests::between(1, 4);
  request.schedule.loop = Loop::kv_inner;
  request.schedule.kv_split = 1;
  request.schedule.workers = tests::between(1, 6);
  request.merge_lockstep = tests::between(0, 1) == 1;
  return request;
}

RC_GTEST_PROP(Period, MultipliedSchedulesEqualReplayedOnesBinByBin, ()) {
  Request request = any_request_with_rounds();
  const Prediction multiplied = simulate_lru(request);
  request.use_period = false;
  expect_same(multiplied, simulate_lru(request));
}

TEST(Period, ThePaperPointIsMostlyMultiplied) {
  for (const ScanId scan : {scan_id<LinearScan>, scan_id<SawtoothScan>}) {
    Request request;
    request.problem = {.batch = 8, .seq_q = 131072, .seq_kv = 131072};
    request.schedule.workers = 48;
    request.schedule.scan = scan;
    LiveAtoms atoms(request);
    DistanceHistogram histogram;
    ASSERT_TRUE(has_rounds(request));
    const RoundReplay replay = replay_rounds(request, atoms, histogram);
    // 8 batches x 2048 Q tiles on 48 workers; a batch replays its first rounds and its edges.
    EXPECT_EQ(replay.rounds, 342);
    EXPECT_GE(replay.rounds_multiplied, 342 - 8 * 6);
  }
}

TEST(Period, MasksAndPrefetchesHaveNoRounds) {
  Request causal;
  causal.problem = {.seq_q = 64, .seq_kv = 64, .mask = {MaskKind::causal, 0}};
  EXPECT_FALSE(has_rounds(causal));
  Request prefetching;
  prefetching.problem = {.seq_q = 64, .seq_kv = 64};
  prefetching.schedule.prefetch = 1;
  EXPECT_FALSE(has_rounds(prefetching));
}

}  // namespace
}  // namespace sawtooth::sim
