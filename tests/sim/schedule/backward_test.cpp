#include <stdexcept>
#include <vector>

#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"
#include "tests/support/visit_script.hpp"
#include "tests/support/visited_pairs.hpp"

namespace sawtooth::sim {
namespace {

RC_GTEST_PROP(Backward, EveryScheduleComputesEachVisiblePairOfTilesOnceAKernel, ()) {
  const Request request = tests::any_backward_request();
  const AtomTable atoms(request);
  tests::PairCounter counter(request);
  LockstepWavefront(request, atoms, counter).run();
  const int kernels = request.schedule.dq == Dq::separate ? 2 : 1;
  RC_ASSERT(counter.pairs == tests::visible_pairs(request, kernels));
}

Request small(int64_t seq, MaskKind mask, int64_t workers) {
  Request request;
  request.problem = {
      .seq_q = seq, .seq_kv = seq, .pass = Pass::backward, .mask = {.kind = mask, .window = 0}};
  request.tiling = {1, 1};
  request.schedule.workers = workers;
  return request;
}

TEST(Backward, AKvTileScansTheQTilesThatSeeIt) {
  // Causal: K/V tiles 0, 1, 2 are seen by 3, 2 and 1 Q tiles. Worker 1 ends tile 1 after two steps
  // and takes tile 2 at once.
  Request request = small(3, MaskKind::causal, 2);
  request.schedule.launch = launch_id<DynamicLaunch>;
  EXPECT_EQ(tests::visit_script(request),
            "0Rk0 0Rv0 1Rk1 1Rv1 "
            "0Rq0 1Rq1 0Rlse0 1Rlse1 0Rd_o0 1Rd_o1 0Rrow_sum0 1Rrow_sum1 0Adq_sum0 1Adq_sum1 "
            "0Rq1 1Rq2 0Rlse1 1Rlse2 0Rd_o1 1Rd_o2 0Rrow_sum1 1Rrow_sum2 0Adq_sum1 1Adq_sum2 "
            "1Wdk1 1Wdv1 1Rk2 1Rv2 "
            "0Rq2 1Rq2 0Rlse2 1Rlse2 0Rd_o2 1Rd_o2 0Rrow_sum2 1Rrow_sum2 0Adq_sum2 1Adq_sum2 "
            "0Wdk0 0Wdv0 1Wdk2 1Wdv2");
}

TEST(Backward, AnItemScansTheHeadsOfItsGroupOneBehindTheOther) {
  // Two query heads share the K/V head: Q tiles 0 and 1 are head 0's, 2 and 3 head 1's.
  Request request = small(2, MaskKind::none, 1);
  request.problem.heads = 2;
  request.problem.seq_kv = 1;
  request.schedule.scan = scan_id<ReverseScan>;
  EXPECT_EQ(tests::visit_script(request),
            "0Rk0 0Rv0 "
            "0Rq1 0Rlse1 0Rd_o1 0Rrow_sum1 0Adq_sum1 0Rq0 0Rlse0 0Rd_o0 0Rrow_sum0 0Adq_sum0 "
            "0Rq3 0Rlse3 0Rd_o3 0Rrow_sum3 0Adq_sum3 0Rq2 0Rlse2 0Rd_o2 0Rrow_sum2 0Adq_sum2 "
            "0Wdk0 0Wdv0");
}

TEST(Backward, SeparateComputesDqInAKernelOfQTilesBehindTheOther) {
  Request request = small(1, MaskKind::none, 1);
  request.schedule.dq = Dq::separate;
  EXPECT_EQ(tests::visit_script(request),
            "0Rk0 0Rv0 0Rq0 0Rlse0 0Rd_o0 0Rrow_sum0 0Wdk0 0Wdv0 "
            "0Rq0 0Rlse0 0Rd_o0 0Rrow_sum0 0Rk0 0Rv0 0Wdq0");
}

TEST(Backward, SmallKernelsSumRowsBeforeAndConvertBehind) {
  Request request = small(1, MaskKind::none, 1);
  request.schedule.small_kernels = true;
  EXPECT_EQ(tests::visit_script(request),
            "0Ro0 0Rd_o0 0Wrow_sum0 0Wdq_sum0 "
            "0Rk0 0Rv0 0Rq0 0Rlse0 0Rd_o0 0Rrow_sum0 0Adq_sum0 0Wdk0 0Wdv0 "
            "0Rdq_sum0 0Wdq0");
}

// Two workers on two items of two tiles each stand at tiles 0 and 1, then 1 and 0.
TEST(Backward, ShiftKeepsWorkersAtDifferentQTiles) {
  Request request = small(2, MaskKind::none, 2);
  request.schedule.scan = scan_id<ShiftScan>;
  const AtomTable atoms(request);
  struct Pairs : WavefrontSink {
    std::vector<std::pair<int64_t, int64_t>> q_of_step;
    void at(int64_t step, int64_t, const Item&, const TilePair& pair) {
      q_of_step.emplace_back(step, pair.q_tile);
    }
  } pairs;
  LockstepWavefront(request, atoms, pairs).run();
  EXPECT_EQ(pairs.q_of_step,
            (std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {0, 1}, {1, 1}, {1, 0}}));
}

TEST(Backward, WhatItIsNotDefinedForIsRefused) {
  const auto refuses = [](auto change) {
    Request request = small(2, MaskKind::none, 1);
    change(request);
    EXPECT_THROW(simulate_lru(request), std::invalid_argument);
  };
  refuses([](Request& r) { r.schedule.loop = Loop::kv_outer; });
  refuses([](Request& r) { r.schedule.kv_split = 2; });
  refuses([](Request& r) { r.schedule.launch = launch_id<BalancedLaunch>; });
  refuses([](Request& r) { r.schedule.prefetch = 1; });
  refuses([](Request& r) { r.schedule.dq = Dq::ordered; });
  refuses([](Request& r) { r.log_sum_exp = true; });
}

}  // namespace
}  // namespace sawtooth::sim
