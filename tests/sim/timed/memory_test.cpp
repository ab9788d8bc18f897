// Arrival times and counters of the timed memory, derived by hand.
#include "sim/timed/memory.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace sawtooth::sim {
namespace {

// Two K/V tiles of 64 rows and 64 bf16: K and V of a tile are 16 KiB, 128 lines, 512 sectors.
constexpr Problem problem{.seq_q = 64, .seq_kv = 128, .head_dim = 64};
constexpr Tiling tiling{64, 64};
constexpr int64_t sms = 2;  // one at each half
constexpr double bytes = 16384;

L2Parameters parameters(int halves) {
  L2Parameters l2;
  l2.lines = {.halves = halves, .capacity_lines = 4096};
  l2.near_ns = 150;
  l2.far_ns = 250;
  l2.dram_ns = 400;
  return l2;
}

Request request() {
  Request of_tiles;
  of_tiles.problem = problem;
  of_tiles.tiling = tiling;
  return of_tiles;
}

class Memory {
 public:
  explicit Memory(const L2Parameters& l2)
      : atoms_(request(), KvAtoms::pairs), memory_(l2, sms, atoms_, true) {
    atoms_.record_begun();
    atoms_.id(Tensor::k, 0, 0);
    atoms_.take_begun([this](const HeadRun& run) { memory_.begin(run); });
  }
  double read(double now, int64_t sm, int64_t tile = 0) {
    return memory_.read(now, sm, atoms_.id(Tensor::k, 0, tile)).arrival_ns;
  }
  double reduce(double now, int64_t sm) {
    return memory_.reduce(now, sm, atoms_.id(Tensor::k, 0, 1));
  }
  void prefetch(double now, int64_t sm, AtomPart part) {
    memory_.prefetch(now, sm, atoms_.id(Tensor::k, 0, 0), part);
  }
  Counters counters() const { return memory_.counters(Tensor::k); }

 private:
  LiveAtoms atoms_;
  TimedMemory memory_;
};

void expect_counts(const Counters& counters, int64_t dram_reads, int64_t near_misses,
                   int64_t fabric_reads, int64_t fabric_misses) {
  EXPECT_EQ(*counters.dram_read_sectors, dram_reads);
  EXPECT_EQ(*counters.l2_read_miss_sectors, near_misses);
  EXPECT_EQ(*counters.fabric_read_sectors, fabric_reads);
  EXPECT_EQ(*counters.fabric_read_miss_sectors, fabric_misses);
}

TEST(TimedMemory, AMissTakesDramsLatencyAndAHitL2s) {
  Memory memory(parameters(1));
  EXPECT_EQ(memory.read(0, 0), 400);
  EXPECT_EQ(memory.read(1000, 0), 1150);
  EXPECT_EQ(*memory.counters().dram_read_sectors, 512);
}

TEST(TimedMemory, WhoWantsLinesOnTheirWayWaitsForThem) {
  Memory memory(parameters(1));
  memory.read(0, 0);
  EXPECT_EQ(memory.read(100, 1), 400);
  EXPECT_EQ(memory.read(399, 1), 549);
  EXPECT_EQ(*memory.counters().l2_read_miss_sectors, 512);
}

// A quarter of K and of V, then the rest: every line once, and nothing is left for who reads it.
TEST(TimedMemory, PartsOfAPrefetchMakeUpTheTile) {
  L2Parameters l2 = parameters(1);
  l2.lines.ways = 16;  // line by line
  Memory memory(l2);
  memory.prefetch(0, 0, {0, 0.25});
  EXPECT_EQ(*memory.counters().dram_read_sectors, 128);
  EXPECT_EQ(memory.counters().sm_read_sectors, 0);
  memory.prefetch(1000, 1, {0.25, 1});
  EXPECT_EQ(*memory.counters().dram_read_sectors, 512);
  EXPECT_EQ(memory.read(2000, 0), 2150);
  EXPECT_EQ(*memory.counters().dram_read_sectors, 512);
}

// A tile is prefetched by the first half, then both read it: its own SMs hit, the other's miss what
// crosses. No lookup that hardware counts has missed at a home.
TEST(TimedMemory, WhatAPrefetchBringsFromDramIsNoMiss) {
  L2Parameters l2 = parameters(2);
  l2.lines.ways = 16;
  Memory memory(l2);
  memory.prefetch(0, 0, {});
  expect_counts(memory.counters(), 512, 256, 256, 0);
  EXPECT_EQ(memory.read(5000, 0), 5150);
  memory.read(9000, 1);
  expect_counts(memory.counters(), 512, 512, 512, 0);
}

// Home's SMs ask before the prefetch of the other half has crossed: there is no miss to take back.
TEST(TimedMemory, APrefetchLeavesNoFabricMissToTheHomesReaders) {
  L2Parameters l2 = parameters(2);
  l2.lines.ways = 16;
  Memory memory(l2);
  memory.prefetch(0, 0, {});
  memory.read(1, 1);
  EXPECT_EQ(*memory.counters().fabric_read_miss_sectors, 0);
}

TEST(TimedMemory, DramServesOneAfterTheOther) {
  L2Parameters l2 = parameters(1);
  l2.dram_bytes_a_ns = 16;  // a tile takes 1024 ns
  Memory memory(l2);
  EXPECT_EQ(memory.read(0, 0, 0), bytes / 16 + 400);
  EXPECT_EQ(memory.read(24, 1, 1), 2 * bytes / 16 + 400);
}

TEST(TimedMemory, APortIsItsOwnSmsAlone) {
  L2Parameters l2 = parameters(1);
  l2.port_bytes_a_ns = 32;  // a tile takes 512 ns
  Memory memory(l2);
  EXPECT_EQ(memory.read(0, 0, 0), 512 + 400);
  EXPECT_EQ(memory.read(0, 1, 1), 512 + 400);
  EXPECT_EQ(memory.read(0, 0, 1), 2 * 512 + 400);
}

// Additions stream through their SM's port, a quarter as fast as L2, and leave L2 three quarters of
// that time to others.
TEST(TimedMemory, AdditionsHoldUpOtherSmsForWhatTheyTakeOfL2Alone) {
  L2Parameters l2 = parameters(1);
  l2.port_bytes_a_ns = 16;
  l2.l2_bytes_a_ns = 64;
  Memory memory(l2);
  EXPECT_EQ(memory.reduce(0, 0), bytes / 16);
  EXPECT_EQ(memory.read(0, 1), 400 + std::max(bytes / 16, 2 * bytes / 64));
  EXPECT_EQ(memory.read(0, 0), 400 + 2 * bytes / 16);
}

// facts of the counters: a line that both halves want is near misses 2 - f, fabric reads 1, fabric
// misses f, DRAM reads 1, with f the share that the far half's request reaches first. One half
// ahead of the other by more than a hop fetches its far lines first: f = 1/2. Both at once: each
// half finds its own lines missing before the other's request has crossed: f = 0.
TEST(TimedMemory, AHalfThatLeadsReachesTheFarLinesFirst) {
  Memory memory(parameters(2));
  memory.read(0, 0);
  memory.read(5000, 1);
  expect_counts(memory.counters(), 512, 768, 512, 256);
}

TEST(TimedMemory, HalvesInStepEachMissTheirOwnLines) {
  Memory memory(parameters(2));
  memory.read(0, 0);
  memory.read(0, 1);
  expect_counts(memory.counters(), 512, 1024, 512, 0);
}

TEST(TimedMemory, FarLinesAreFasterTheSecondTime) {
  Memory memory(parameters(2));
  memory.read(0, 0);
  EXPECT_EQ(memory.read(5000, 1), 5250);
  EXPECT_EQ(memory.read(9000, 1), 9150);
}

TEST(TimedMemory, NeighboursRequestsMergeWhileTheFirstIsOutstanding) {
  L2Parameters l2 = parameters(1);
  l2.coalescer_sms = 2;
  Memory memory(l2);
  memory.read(0, 0);     // 400 ns on its way
  memory.read(399, 1);   // merged
  memory.read(1000, 0);  // 150 ns on its way
  memory.read(1150, 1);  // not merged: the answer is there
  EXPECT_EQ(*memory.counters().sm_read_sectors, 4 * 512);
  EXPECT_EQ(*memory.counters().l2_read_sectors, 3 * 512);
}

// GPCs of 16 SMs, halves of 18: six neighbours merge where one half of one GPC has them.
TEST(TimedMemory, RequestsOfTwoHalvesDoNotMerge) {
  L2Parameters l2 = parameters(2);
  l2.coalescer_sms = 2;
  Memory memory(l2);
  memory.read(0, 0);
  memory.read(1, 1);
  EXPECT_EQ(*memory.counters().l2_read_sectors, 2 * 512);
  EXPECT_EQ(coalescers_of(placed_sms(36, 2), 6),
            (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3,
                                  4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6, 7, 7, 7, 7}));
}

TEST(TrafficRate, IsThatOfTheLastWholeWindow) {
  TrafficRate rate(100);
  EXPECT_EQ(rate.bytes_a_ns(), 0);
  for (int ns = 0; ns < 100; ++ns) rate.add(ns, 3);
  EXPECT_EQ(rate.bytes_a_ns(), 0) << "the first window has not ended";
  rate.add(100, 5);
  EXPECT_DOUBLE_EQ(rate.bytes_a_ns(), 3);
  rate.add(350, 0);  // 5 bytes in 250 ns
  EXPECT_DOUBLE_EQ(rate.bytes_a_ns(), 0.02);
}

}  // namespace
}  // namespace sawtooth::sim
