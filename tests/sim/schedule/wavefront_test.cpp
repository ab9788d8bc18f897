#include "sim/schedule/wavefront.hpp"

#include <map>

#include "tests/support/atom_table.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"
#include "tests/support/visit_script.hpp"
#include "tests/support/visited_pairs.hpp"

namespace sawtooth::sim {
namespace {

RC_GTEST_PROP(Wavefront, EveryScheduleComputesEachVisiblePairOfTilesOnce, ()) {
  const Request request = tests::any_request();
  const AtomTable atoms(request);
  tests::PairCounter counter(request);
  LockstepWavefront(request, atoms, counter).run();
  RC_ASSERT(counter.pairs == tests::visible_pairs(request));
}

struct WriteCounter : WavefrontSink {
  explicit WriteCounter(const AtomTable& table) : atoms(table) {}
  const AtomTable& atoms;
  std::map<AtomId, int> writes;
  void touch(int64_t, AtomId atom, Access access) {
    if (access == Access::write) ++writes[atom];
  }
};

RC_GTEST_PROP(Wavefront, EveryRowOfOIsWrittenAlsoWhereNothingIsVisible, ()) {
  const Request request = tests::any_request();
  const AtomTable atoms(request);
  WriteCounter counter(atoms);
  LockstepWavefront(request, atoms, counter).run();
  for (AtomId atom = 0; atom < atoms.sizes().size(); ++atom) {
    const Tensor tensor = atoms.tensor_of(atom);
    if (tensor == Tensor::q || tensor == Tensor::k || tensor == Tensor::v) {
      RC_ASSERT(counter.writes.count(atom) == 0u);
    } else if (tensor == Tensor::partial_o && cuts_last_wave(request.schedule)) {
      RC_ASSERT(counter.writes[atom] <= 1);  // not every number below the bound is a piece's
    } else if (request.schedule.loop == Loop::kv_inner) {
      RC_ASSERT(counter.writes[atom] == 1);
    } else if (tensor != Tensor::running_o) {  // which a Q tile with one K/V tile does without
      RC_ASSERT(counter.writes[atom] >= 1);
    }
  }
}

Request small_causal() {
  Request request;
  request.problem = {.seq_q = 3, .seq_kv = 3, .mask = {MaskKind::causal, 0}};
  request.tiling = {1, 1};
  request.schedule.workers = 2;
  return request;
}

TEST(Wavefront, AFreeWorkerWritesOAndGoesOnAtOnceInLockstep) {
  // Items 0, 1, 2 have 1, 2 and 3 tiles. Worker 0 ends item 0 after step 0 and takes item 2 at
  // once, while worker 1 is at its second tile.
  EXPECT_EQ(tests::visit_script(small_causal()),
            "0Rq0 1Rq1 "
            "0Rk0 1Rk0 0Rv0 1Rv0 0Wo0 0Rq2 "
            "0Rk0 1Rk1 0Rv0 1Rv1 1Wo1 "
            "0Rk1 0Rv1 0Rk2 0Rv2 0Wo2");
}

TEST(Wavefront, CountsTheItemsThatBegin) {
  Request request = small_causal();
  std::atomic<int64_t> begun = 0;
  request.items_begun = &begun;
  tests::visit_script(request);
  EXPECT_EQ(begun, 3);  // Q tiles of the one head
}

TEST(Wavefront, AWaveWaitsForItsLastItemInLockstepWave) {
  Request request = small_causal();
  request.timing = Timing::lockstep_wave;
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 1Rq1 "
            "0Rk0 1Rk0 0Rv0 1Rv0 0Wo0 "
            "1Rk1 1Rv1 1Wo1 0Rq2 "
            "0Rk0 0Rv0 0Rk1 0Rv1 0Rk2 0Rv2 0Wo2");
}

// Six queries, three keys: items 0 to 2 see nothing, 3 to 5 see 1, 2 and 3 tiles. The first wave,
// items 0 and 1, takes no step; worker 0 ends item 2 at once and leaves item 4 to the next wave.
TEST(Wavefront, AWorkerWhoseItemSeesNothingWaitsForTheWaveInLockstepWave) {
  Request request = small_causal();
  request.problem.seq_q = 6;
  request.problem.seq_kv = 3;
  request.timing = Timing::lockstep_wave;
  EXPECT_EQ(tests::visit_script(request),
            "0Wo0 1Wo1 "
            "0Wo2 1Rq3 1Rk0 1Rv0 1Wo3 "
            "0Rq4 1Rq5 0Rk0 1Rk0 0Rv0 1Rv0 "
            "0Rk1 1Rk1 0Rv1 1Rv1 0Wo4 "
            "1Rk2 1Rv2 1Wo5");
}

TEST(Wavefront, StaticWorkersKeepTheirStrideAndDynamicOnesTakeTickets) {
  // Descending: items are Q tiles 2, 1, 0. Static worker 0 owns items 0 and 2; with tickets the
  // worker that is free first, worker 1, takes item 2.
  Request request = small_causal();
  request.schedule.order.q_order = q_order_id<DescendingQ>;
  EXPECT_EQ(tests::visit_script(request),
            "0Rq2 1Rq1 "
            "0Rk0 1Rk0 0Rv0 1Rv0 0Rk1 1Rk1 0Rv1 1Rv1 1Wo1 "
            "0Rk2 0Rv2 0Wo2 0Rq0 0Rk0 0Rv0 0Wo0");
  request.schedule.launch = launch_id<DynamicLaunch>;
  EXPECT_EQ(tests::visit_script(request),
            "0Rq2 1Rq1 "
            "0Rk0 1Rk0 0Rv0 1Rv0 0Rk1 1Rk1 0Rv1 1Rv1 1Wo1 1Rq0 "
            "0Rk2 1Rk0 0Rv2 1Rv0 0Wo2 1Wo0");
}

TEST(Wavefront, AnItemThatSeesNothingWritesOAndCountsForParity) {
  // seq_q 3, seq_kv 2: d = -1, Q tile 0 sees nothing. One worker: item 0 is empty but makes item 1
  // the worker's second, so sawtooth scans it backwards, and item 2 forwards.
  Request request;
  request.problem = {.seq_q = 3, .seq_kv = 2, .mask = {MaskKind::causal, 0}};
  request.tiling = {1, 1};
  request.schedule.scan = scan_id<SawtoothScan>;
  EXPECT_EQ(tests::visit_script(request), "0Wo0 0Rq1 0Rk0 0Rv0 0Wo1 0Rq2 0Rk0 0Rv0 0Rk1 0Rv1 0Wo2");
}

TEST(Wavefront, ScansUnderGridTurnWithTheWave) {
  // Two slots, three items without a mask: item 2 is wave 1, hence backwards.
  Request request;
  request.problem = {.seq_q = 3, .seq_kv = 2};
  request.tiling = {1, 1};
  request.schedule = {.launch = launch_id<GridLaunch>, .scan = scan_id<SawtoothScan>, .workers = 2};
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 1Rq1 0Rk0 1Rk0 0Rv0 1Rv0 0Rk1 1Rk1 0Rv1 1Rv1 0Wo0 0Rq2 1Wo1 "
            "0Rk1 0Rv1 0Rk0 0Rv0 0Wo2");
}

TEST(Wavefront, AttachStartsWhereTheHeadWasLastStarted) {
  // Worker 1 alone has a second item when worker 0 is at tile 1: item 2 of 2 workers, causal 1, 2
  // and 3 tiles. After step 0 the word is 0 (both were at tile 0): item 2 starts at 0. Then the
  // word follows the last worker that started a tile.
  Request request = small_causal();
  request.problem.seq_q = 4;
  request.problem.seq_kv = 4;
  request.schedule.scan = scan_id<AttachScan>;
  // Step 0: both at tile 0; worker 0 done, takes item 2 at word 0.
  // Step 1: worker 0 tile 0, worker 1 tile 1 (word 1); worker 1 done, takes item 3 at word 1.
  // Step 2: worker 0 tile 1, worker 1 tile 1. Step 3: 2 and 2, worker 0 done.
  // Steps 4, 5: worker 1 at tile 3, then wraps to tile 0.
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 1Rq1 0Rk0 1Rk0 0Rv0 1Rv0 0Wo0 0Rq2 "
            "0Rk0 1Rk1 0Rv0 1Rv1 1Wo1 1Rq3 "
            "0Rk1 1Rk1 0Rv1 1Rv1 0Rk2 1Rk2 0Rv2 1Rv2 0Wo2 "
            "1Rk3 1Rv3 1Rk0 1Rv0 1Wo3");
}

// A tile has one line, of which the second of two sharers has the share.
TEST(Wavefront, PrefetchIsOnePassAheadAndStopsAtTheItemsEnd) {
  Request request;
  request.problem = {.seq_q = 2, .seq_kv = 2};
  request.tiling = {1, 1};
  request.schedule.workers = 2;
  request.schedule.prefetch = 1;
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 1Rq1 0Rk0 1Rk0 0Rv0 1Rv0 1Pk1 1Pv1 0Rk1 1Rk1 0Rv1 1Rv1 0Wo0 1Wo1");
}

// A tile has two lines, one a sharer; the first sharer's item ends before the tile ahead.
TEST(Wavefront, EverySharerPrefetchesItsLinesInItsOwnItem) {
  Request request;
  request.problem = {.seq_q = 4, .seq_kv = 4, .mask = {MaskKind::causal, 0}};
  request.tiling = {2, 2};
  request.schedule.workers = 2;
  request.schedule.prefetch = 1;
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 1Rq1 0Rk0 0Rk1 1Rk0 1Rk1 0Rv0 0Rv1 1Rv0 1Rv1 1Pk3 1Pv3 0Wo0 "
            "1Rk2 1Rk3 1Rv2 1Rv3 1Wo1");
}

TEST(Wavefront, KvOuterReadsKvOnceAndQAndOAgainForEveryKvTile) {
  Request request;
  request.problem = {.seq_q = 2, .seq_kv = 2};
  request.tiling = {1, 1};
  request.schedule.loop = Loop::kv_outer;
  EXPECT_EQ(tests::visit_script(request),
            "0Rk0 0Rv0 0Rq0 0Wrunning_o0 0Rq1 0Wrunning_o1 "
            "0Rk1 0Rv1 0Rq0 0Rrunning_o0 0Wo0 0Rq1 0Rrunning_o1 0Wo1");
  request.problem.dtype = ElementType::fp32;
  EXPECT_EQ(tests::visit_script(request),
            "0Rk0 0Rv0 0Rq0 0Wo0 0Rq1 0Wo1 "
            "0Rk1 0Rv1 0Rq0 0Ro0 0Wo0 0Rq1 0Ro1 0Wo1");
}

TEST(Wavefront, KvSplitWritesPartsAndCombinesThem) {
  Request request;
  request.problem = {.seq_q = 1, .seq_kv = 2};
  request.tiling = {1, 1};
  request.schedule.kv_split = 2;
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 0Rk0 0Rv0 0Wpartial_o0 0Wpartial_lse0 "
            "0Rq0 0Rk1 0Rv1 0Wpartial_o1 0Wpartial_lse1 "
            "0Rpartial_lse0 0Rpartial_o0 0Rpartial_lse1 0Rpartial_o1 0Wo0");
}

}  // namespace
}  // namespace sawtooth::sim
