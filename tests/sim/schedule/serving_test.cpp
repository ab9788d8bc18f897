// Equal shares, shared prefixes and cascades: by hand, by closed forms, and line by line.
#include "tests/support/serving.hpp"

#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/limits.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/line_histogram.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;
using tests::ServingProblem;

// How often a tile of Q of a head of a sequence meets a K/V tile.
struct Meetings : WavefrontSink {
  using Pair = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  explicit Meetings(const Request& request) {
    if (request.cascade) cascade.emplace(request.problem, request.tiling, request.sequences.prefix);
  }
  void at(int64_t, int64_t, const Item& item, const TilePair& pair) {
    Range stack{item.batch, item.batch + 1};
    if (cascade && item.part == 0) stack = cascade->sequences_of(item.index);
    for (int64_t batch = stack.begin; batch < stack.end; ++batch)
      ++pairs[{batch, pair.head, pair.q_tile, pair.kv_tile}];
  }
  void touch(int64_t, AtomId atom, Access access) { touches.emplace_back(atom, access); }
  std::optional<Cascade> cascade;
  std::map<Pair, int64_t> pairs;
  std::vector<std::pair<AtomId, Access>> touches;
};

RC_GTEST_PROP(Serving, EveryVisiblePairOfTilesMeetsOnceHoweverTheWorkIsCut, ()) {
  ServingProblem serving;
  make_any_serving_problem(serving);
  const Request& request = serving.request;
  std::map<Meetings::Pair, int64_t> expected;
  for (int64_t batch = 0; batch < request.problem.batch; ++batch) {
    const Problem own = request.sequences.of(request.problem, batch);
    for (int64_t head = 0; head < own.heads; ++head) {
      for (int64_t q = 0; q < q_tiles(own, request.tiling); ++q) {
        const Range tiles = visible_kv_tiles(own, request.tiling, q);
        for (int64_t kv = tiles.begin; kv < tiles.end; ++kv) expected[{batch, head, q, kv}] = 1;
      }
    }
  }
  const AtomTable atoms(request);
  Meetings meetings(request);
  LockstepWavefront(request, atoms, meetings).run();
  RC_ASSERT(meetings.pairs == expected);
  for (const auto& [atom, access] : meetings.touches) RC_ASSERT(atoms.size(atom).lines > 0u);
}

// Every row of O is written once, however many workers had parts of it.
RC_GTEST_PROP(Serving, EveryTileOfOIsWrittenOnce, ()) {
  ServingProblem serving;
  make_any_serving_problem(serving);
  const Request& request = serving.request;
  const AtomTable atoms(request);
  Meetings meetings(request);
  LockstepWavefront(request, atoms, meetings).run();
  std::map<AtomId, int> written;
  for (const auto& [atom, access] : meetings.touches)
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
  RC_ASSERT(lines.is(simulate_lru(serving.request).histogram));
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
  const AtomTable atoms(request);
  Meetings meetings(request);
  LockstepWavefront wavefront(request, atoms, meetings);
  wavefront.run();
  EXPECT_EQ(wavefront.steps(), 2);
  const auto q = [&](int64_t b) { return std::pair(atoms.id(Tensor::q, b, 0), Access::read); };
  const auto k = [&](int64_t b, int64_t t) {
    return std::pair(atoms.id(Tensor::k, b, t), Access::read);
  };
  const auto v = [&](int64_t b, int64_t t) {
    return std::pair(atoms.id(Tensor::v, b, t), Access::read);
  };
  const auto piece = [&](int64_t number, Access access) {
    return std::pair(atoms.id(Tensor::partial_o, number, 0), access);
  };
  const auto o = [&](int64_t b) { return std::pair(atoms.id(Tensor::o, b, 0), Access::write); };
  // Pieces of the first sequence are 0 and 1, of the second 2 and 3.
  const std::vector<std::pair<AtomId, Access>> touches{q(0),
                                                       q(0),
                                                       q(1),  //
                                                       k(0, 0),
                                                       k(0, 2),
                                                       k(1, 1),
                                                       v(0, 0),
                                                       v(0, 2),
                                                       v(1, 1),  //
                                                       piece(1, Access::write),
                                                       q(1),  // worker 1 goes on
                                                       k(0, 1),
                                                       k(1, 0),
                                                       k(1, 2),
                                                       v(0, 1),
                                                       v(1, 0),
                                                       v(1, 2),  //
                                                       piece(0, Access::write),
                                                       piece(0, Access::read),
                                                       piece(1, Access::read),
                                                       o(0),
                                                       piece(2, Access::write),  //
                                                       piece(3, Access::write),
                                                       piece(2, Access::read),
                                                       piece(3, Access::read),
                                                       o(1)};
  EXPECT_EQ(meetings.touches, touches);
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
  const AtomTable atoms(request);
  Meetings meetings(request);
  LockstepWavefront(request, atoms, meetings).run();
  const auto read = [&](Tensor tensor, int64_t head, int64_t tile) {
    return std::pair(atoms.id(tensor, head, tile), Access::read);
  };
  const auto write = [&](Tensor tensor, int64_t head, int64_t tile) {
    return std::pair(atoms.id(tensor, head, tile), Access::write);
  };
  using enum Tensor;
  const std::vector<std::pair<AtomId, Access>> touches{
      read(q, 0, 0), read(q, 1, 0), read(k, 0, 0), read(v, 0, 0),  //
      write(partial_o, 0, 0), write(partial_o, 0, 1),              //
      read(q, 2, 0), read(k, 0, 0), read(v, 0, 0), write(partial_o, 1, 0),
      // Sequence 0: its own keys, and what the first item left of it.
      read(q, 0, 0), read(k, 0, 1), read(v, 0, 1), write(partial_o, 2, 0), read(partial_o, 0, 0),
      read(partial_o, 2, 0), write(o, 0, 0),
      // Sequence 1 finds its rows behind those of sequence 0.
      read(q, 1, 0), read(k, 1, 1), read(v, 1, 1), write(partial_o, 3, 0), read(partial_o, 0, 1),
      read(partial_o, 3, 0), write(o, 1, 0),  //
      read(q, 2, 0), read(k, 2, 1), read(v, 2, 1), write(partial_o, 4, 0), read(partial_o, 1, 0),
      read(partial_o, 4, 0), write(o, 2, 0)};
  EXPECT_EQ(meetings.touches, touches);
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
      {"prefix",
       [](ServingProblem& s) {
         s.page(128, 0);
         s.request.sequences.prefix = {.keys = 64, .group = 2};
       }},
  };
  const Case cascades[] = {
      {"kv-split", [](ServingProblem& s) { s.request.schedule.kv_split = 2; }},
      {"launch", [](ServingProblem& s) { s.request.schedule.launch = launch_id<BalancedLaunch>; }},
      {"scan", [](ServingProblem& s) { s.request.schedule.scan = scan_id<AttachScan>; }},
      {"mask",
       [](ServingProblem& s) {
         s.request.problem.mask = {MaskKind::window, 8};
       }},
      {"cascade", [](ServingProblem& s) { s.request.problem.seq_q = 65; }},
      {"cascade",
       [](ServingProblem& s) {
         s.request.problem.mask = {MaskKind::causal, 0};
         s.request.problem.seq_q = 3;
         s.request.sequences.prefix.keys = 128;
       }},
  };
  const auto usual = [](ServingProblem& s) {
    s.request.problem = {.batch = 2, .seq_q = 1, .seq_kv = 129};
    s.request.tiling = {64, 64};
  };
  for (const Case& one : cases) {
    ServingProblem serving;
    usual(serving);
    ASSERT_FALSE(serving_fault(serving.request));
    one.spoil(serving);
    const auto fault = serving_fault(serving.request);
    ASSERT_TRUE(fault) << one.key;
    EXPECT_EQ(fault->key, one.key);
    EXPECT_THROW(simulate_lru(serving.request), std::invalid_argument);
  }
  for (const Case& one : cascades) {
    ServingProblem serving;
    usual(serving);
    serving.request.sequences.prefix = {.keys = 64, .group = 2};
    serving.request.cascade = true;
    ASSERT_FALSE(serving_fault(serving.request));
    one.spoil(serving);
    const auto fault = serving_fault(serving.request);
    ASSERT_TRUE(fault) << one.key;
    EXPECT_EQ(fault->key, one.key);
  }
}

}  // namespace
}  // namespace sawtooth::sim
