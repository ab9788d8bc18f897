// Equal shares, shared prefixes and cascades: by hand, by closed forms, and line by line.
#include "tests/support/serving.hpp"

#include <map>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/limits.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/line_histogram.hpp"
#include "tests/support/property.hpp"
#include "tests/support/same_predictions.hpp"
#include "tests/support/visit_script.hpp"
#include "tests/support/visited_pairs.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;
using tests::ServingProblem;

struct Touches : tests::PairCounter {
  using tests::PairCounter::PairCounter;
  void touch(int64_t, AtomId atom, Access access) { touches.emplace_back(atom, access); }
  std::vector<std::pair<AtomId, Access>> touches;
};

RC_GTEST_PROP(Serving, EveryVisiblePairOfTilesMeetsOnceHoweverTheWorkIsCut, ()) {
  ServingProblem serving;
  make_any_serving_problem(serving);
  const Request& request = serving.request;
  const AtomTable atoms(request);
  Touches touches(request);
  LockstepWavefront(request, atoms, touches).run();
  RC_ASSERT(touches.pairs == tests::visible_pairs(request));
  for (const auto& [atom, access] : touches.touches) RC_ASSERT(atoms.size(atom).lines > 0u);
}

// Every row of O is written once, however many workers had parts of it.
RC_GTEST_PROP(Serving, EveryTileOfOIsWrittenOnce, ()) {
  ServingProblem serving;
  make_any_serving_problem(serving);
  const Request& request = serving.request;
  const AtomTable atoms(request);
  Touches touches(request);
  LockstepWavefront(request, atoms, touches).run();
  std::map<AtomId, int> written;
  for (const auto& [atom, access] : touches.touches)
    if (access == Access::write && atoms.tensor_of(atom) == Tensor::o) ++written[atom];
  int64_t tiles = 0;
  for (int64_t batch = 0; batch < request.problem.batch; ++batch) {
    const Problem own = request.sequences.of(request.problem, batch);
    tiles += own.heads * q_tiles(own, request.tiling);
  }
  RC_ASSERT(int64_t(written.size()) == tiles);
  for (const auto& [atom, times] : written) RC_ASSERT(times == 1);
}

RC_GTEST_PROP(Serving, TileHistogramEqualsTheLineLevelOneBinByBin, ()) {
  ServingProblem serving;
  make_any_serving_problem(serving);
  serving.request.merge_lockstep = between(0, 1) == 1;
  const AtomTable atoms(serving.request);
  tests::LineLevelHistogram lines(atoms);
  LockstepWavefront(serving.request, atoms, lines).run();
  RC_ASSERT(tests::same_histogram(lines.histogram, simulate_lru(serving.request).histogram));
}

// Two sequences of three tiles, one head, three workers: two tiles each. Worker 1 has the end of
// the first sequence and the beginning of the second.
TEST(Serving, SharesAreWalkedAndMergedAsWorkedOutByHand) {
  ServingProblem serving;
  Request& request = serving.request;
  request.problem = {.batch = 2, .seq_q = 1, .seq_kv = 192};
  request.tiling = {64, 64};
  request.schedule = {.workers = 3};
  serving.share();
  // Pieces of the first sequence are 0 and 1, of the second 2 and 3.
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 1Rq0 2Rq1 "
            "0Rk0 1Rk2 2Rk4 0Rv0 1Rv2 2Rv4 1Wpartial_o1 1Rq1 "  // worker 1 goes on
            "0Rk1 1Rk3 2Rk5 0Rv1 1Rv3 2Rv5 "
            "0Wpartial_o0 0Rpartial_o0 0Rpartial_o1 0Wo0 1Wpartial_o2 "
            "2Wpartial_o3 2Rpartial_o2 2Rpartial_o3 2Wo1");
  EXPECT_EQ(simulate_lru(request).steps, 2);
  const AtomTable atoms(request);
  // One row: 64 floats of O, its maximum and its sum.
  EXPECT_EQ(atoms.size(atoms.id(Tensor::partial_o, 0, 0)).sectors, ceil_div((64 + 2) * 4, 32));
}

// Three sequences of one row share a tile of 64 keys and have one tile of their own; two rows fit
// into a tile of Q: prefix items 0 (sequences 0, 1) and 1 (sequence 2), own items 2, 3, 4.
TEST(Serving, ACascadeIsMergedByWhoComesLastAsWorkedOutByHand) {
  const std::vector<SequenceLengths> lengths(3, {1, 128});
  Request request;
  request.problem = {.batch = 3, .seq_q = 1, .seq_kv = 128};
  request.tiling = {2, 64};
  request.schedule = {.workers = 1};
  request.sequences = {
      .lengths = lengths.data(), .order = nullptr, .prefix = {.keys = 64, .group = 3}, .pages = {}};
  request.cascade = true;
  // An item leaves two rows: those of the prefix are partial_o0, 1 and 2, own ones 4, 6 and 8.
  // Sequence 1 finds its rows behind those of sequence 0.
  EXPECT_EQ(tests::visit_script(request),
            "0Rq0 0Rq1 0Rk0 0Rv0 0Wpartial_o0 0Wpartial_o1 "
            "0Rq2 0Rk0 0Rv0 0Wpartial_o2 "
            "0Rq0 0Rk1 0Rv1 0Wpartial_o4 0Rpartial_o0 0Rpartial_o4 0Wo0 "
            "0Rq1 0Rk3 0Rv3 0Wpartial_o6 0Rpartial_o1 0Rpartial_o6 0Wo1 "
            "0Rq2 0Rk5 0Rv5 0Wpartial_o8 0Rpartial_o2 0Rpartial_o8 0Wo2");
}

struct Case {
  const char* key;
  void (*spoil)(ServingProblem&);
};

TEST(Serving, WhatIsNotDefinedIsRefusedByItsKey) {
  const Case cases[] = {
      {"launch",
       [](ServingProblem& s) { s.share(), s.request.schedule.launch = launch_id<GridLaunch>; }},
      {"prefetch", [](ServingProblem& s) { s.share(), s.request.schedule.prefetch = 1; }},
      {"kv-split", [](ServingProblem& s) { s.share(), s.request.schedule.loop = Loop::kv_outer; }},
      {"prefix", [](ServingProblem& s) { s.request.sequences.prefix = {.keys = 65, .group = 2}; }},
      {"prefix", [](ServingProblem& s) { s.request.sequences.prefix = {.keys = 256, .group = 2}; }},
      {"cascade", [](ServingProblem& s) { s.request.cascade = true; }},
      {"page-rows", [](ServingProblem& s) { s.page(48, 0); }},
      {"prefix", [](ServingProblem& s) {
         s.page(128, 0);
         s.request.sequences.prefix = {.keys = 64, .group = 2};
       }}};
  const Case cascades[] = {
      {"kv-split", [](ServingProblem& s) { s.request.schedule.kv_split = 2; }},
      {"launch", [](ServingProblem& s) { s.request.schedule.launch = launch_id<BalancedLaunch>; }},
      {"scan", [](ServingProblem& s) { s.request.schedule.scan = scan_id<AttachScan>; }},
      {"mask",
       [](ServingProblem& s) {
         s.request.problem.mask = {MaskKind::window, 8};
       }},
      {"cascade", [](ServingProblem& s) { s.request.problem.seq_q = 65; }},
      {"cascade", [](ServingProblem& s) {
         s.request.problem.mask = {MaskKind::causal, 0};
         s.request.problem.seq_q = 3;
         s.request.sequences.prefix.keys = 128;
       }}};
  const auto usual = [](ServingProblem& s) {
    s.request.problem = {.batch = 2, .seq_q = 1, .seq_kv = 129};
    s.request.tiling = {64, 64};
  };
  const auto expect_refused = [](ServingProblem& serving, const Case& one) {
    ASSERT_FALSE(serving_fault(serving.request));
    one.spoil(serving);
    const auto fault = serving_fault(serving.request);
    ASSERT_TRUE(fault) << one.key;
    EXPECT_EQ(fault->key, one.key);
    EXPECT_THROW(simulate_lru(serving.request), std::invalid_argument);
  };
  for (const Case& one : cases) {
    ServingProblem serving;
    usual(serving);
    expect_refused(serving, one);
  }
  for (const Case& one : cascades) {
    ServingProblem serving;
    usual(serving);
    serving.request.sequences.prefix = {.keys = 64, .group = 2};
    serving.request.cascade = true;
    expect_refused(serving, one);
  }
}

}  // namespace
}  // namespace sawtooth::sim
