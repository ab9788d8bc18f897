// Sequences of different lengths: by hand, against problems of one length, and against their sum.
#include <stdexcept>
#include <tuple>
#include <vector>

#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

struct Trace : WavefrontSink {
  std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> visits;  // batch, head, Q, K/V tile
  std::vector<std::pair<AtomId, Access>> touches;
  void at(int64_t, int64_t, const Item& item, const TilePair& pair) {
    visits.emplace_back(item.batch, pair.head, pair.q_tile, pair.kv_tile);
  }
  void touch(int64_t, AtomId atom, Access access) { touches.emplace_back(atom, access); }
};

// Sequence 0 has two Q tiles and one K/V tile, sequence 1 one Q tile and three K/V tiles. Of its
// two heads the items are number 4 and 6: 5 and 7 are void, but count, so both scan forwards.
TEST(Sequences, AVoidItemTakesItsTurnAndTouchesNothing) {
  const std::vector<SequenceLengths> lengths{{100, 20}, {64, 192}};
  Request request;
  request.problem = {.batch = 2, .heads = 2, .kv_heads = 2, .seq_q = 100, .seq_kv = 192};
  request.tiling = {64, 64};
  request.schedule = {.scan = scan_id<SawtoothScan>, .workers = 1};
  request.sequences.lengths = lengths.data();
  const AtomTable atoms(request);
  Trace trace;
  LockstepWavefront(request, atoms, trace).run();
  const std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> visits{
      {0, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 1, 1, 0},  // sequence 0
      {1, 0, 0, 0}, {1, 0, 0, 1}, {1, 0, 0, 2},                // sequence 1, head 0
      {1, 1, 0, 0}, {1, 1, 0, 1}, {1, 1, 0, 2}};
  EXPECT_EQ(trace.visits, visits);
  EXPECT_EQ(trace.touches.size(), 6 * 2 + visits.size() * 2);  // Q and O of six items, K and V
  for (const auto& [atom, access] : trace.touches) EXPECT_GT(atoms.size(atom).lines, 0u);
  // 36 rows of 128 bytes in the second Q tile of sequence 0, 20 keys in its only K/V tile.
  EXPECT_EQ(atoms.size(atoms.id(Tensor::q, 1, 1)).lines, 36u);
  EXPECT_EQ(atoms.size(atoms.id(Tensor::k, 0, 0)).lines, 20u);
  EXPECT_EQ(atoms.size(atoms.id(Tensor::k, 2, 2)).lines, 64u);
}

// Four sequences of one Q tile; the longest is walked first, and equal ones as they are numbered.
TEST(Sequences, InAnOrderOfTheirOwnAreWalkedByIt) {
  const std::vector<SequenceLengths> lengths{{8, 64}, {8, 128}, {8, 64}, {8, 192}};
  const std::vector<int64_t> order{3, 1, 0, 2};
  Request request;
  request.problem = {.batch = 4, .heads = 1, .kv_heads = 1, .seq_q = 8, .seq_kv = 192};
  request.tiling = {64, 64};
  request.schedule = {.workers = 1};
  request.sequences = {lengths.data(), order.data()};
  const AtomTable atoms(request);
  Trace trace;
  LockstepWavefront(request, atoms, trace).run();
  const std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>> visits{
      {3, 0, 0, 0}, {3, 0, 0, 1}, {3, 0, 0, 2}, {1, 0, 0, 0},
      {1, 0, 0, 1}, {0, 0, 0, 0}, {2, 0, 0, 0}};
  EXPECT_EQ(trace.visits, visits);
  EXPECT_TRUE(LongestSequences::before(lengths[3], lengths[1]));
  EXPECT_FALSE(LongestSequences::before(lengths[0], lengths[2]));
}

// Parts are cut from the sequence's own tiles: two of four tiles, and one of two.
TEST(Sequences, PartsOfKvSplitAreThoseOfTheSequencesOwnTiles) {
  const std::vector<SequenceLengths> lengths{{8, 256}, {8, 128}};
  Request request;
  request.problem = {.batch = 2, .seq_q = 8, .seq_kv = 256};
  request.tiling = {64, 64};
  request.schedule = {.kv_split = 2};
  request.sequences.lengths = lengths.data();
  const auto scanned = [&](int64_t index) {
    return item_at(request.problem, request.tiling, request.schedule, request.sequences, index)
        .scanned;
  };
  EXPECT_EQ(scanned(0), (Range{0, 2}));
  EXPECT_EQ(scanned(1), (Range{2, 4}));
  EXPECT_EQ(scanned(2), (Range{0, 1}));
  EXPECT_EQ(scanned(3), (Range{1, 2}));
}

// An empty sequence of keys leaves zeros in O; one of queries has no item that does anything.
TEST(Sequences, MayBeEmpty) {
  const std::vector<SequenceLengths> lengths{{8, 0}, {0, 64}, {8, 64}};
  Request request;
  request.problem = {.batch = 3, .seq_q = 8, .seq_kv = 64};
  request.tiling = {8, 64};
  request.l2_bytes = 1 << 20;
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    request.problem.mask.kind = mask;
    request.sequences.lengths = lengths.data();
    const Counters counters = simulate_lru(request).total;
    EXPECT_EQ(counters.l2_write_sectors, 2 * 8 * 4);
    EXPECT_EQ(counters.sm_read_sectors, 8 * 4 + 2 * 64 * 4);
  }
}

TEST(Sequences, WhatTheyAreNotDefinedForIsRefusedByItsKey) {
  const std::vector<SequenceLengths> lengths{{8, 64}};
  Request plain;
  plain.problem = {.seq_q = 8, .seq_kv = 64};
  plain.sequences.lengths = lengths.data();
  const auto message = [&](auto change) -> std::string {
    Request request = plain;
    change(request);
    try {
      simulate_lru(request);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](Request&) {}), "");
  EXPECT_EQ(message([](Request& r) { r.problem.pass = Pass::backward; }).substr(0, 6), "pass: ");
  EXPECT_EQ(message([](Request& r) { r.schedule.loop = Loop::kv_outer; }).substr(0, 6), "loop: ");
  EXPECT_EQ(message([](Request& r) { r.schedule.launch = launch_id<BalancedLaunch>; }).substr(0, 8),
            "launch: ");
  EXPECT_EQ(message([](Request& r) { r.schedule.prefetch = 1; }).substr(0, 10), "prefetch: ");
}

}  // namespace
}  // namespace sawtooth::sim
