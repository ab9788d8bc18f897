#include "sim/halves/halves_in_step.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "scheduler/memory_units.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/set_placement.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/two_halves_line_engine.hpp"

namespace sawtooth::sim {
namespace {

constexpr int64_t lines_per_atom = 4;  // two of either home
constexpr AtomSize atom_size{.lines = 4, .sectors = 16};

template <class L2 = HalvesInStep>
L2 l2_of(const HalvesParameters& parameters, size_t atoms, AtomSize size = atom_size) {
  L2 l2(parameters);
  l2.begin({.sizes = std::vector<AtomSize>(atoms, size)});
  return l2;
}

HalfVisit by(AtomId atom, Access access, uint32_t half0, uint32_t half1) {
  return {.atom = atom, .access = access, .times = {half0, half1}};
}

// Lines 0 and 1 of an atom have their home in half 0, lines 2 and 3 in half 1.
LineEngine lines_without_sets(int64_t capacity_lines, AtomId atoms) {
  std::vector<int> homes;
  for (AtomId atom = 0; atom < atoms; ++atom) homes.insert(homes.end(), {0, 0, 1, 1});
  return {capacity_lines, homes};
}

void visit_lines(LineEngine& engine, AtomId atom, Access access, int half) {
  for (int line = 0; line < lines_per_atom; ++line) {
    const int64_t number = atom * lines_per_atom + line;
    if (access == Access::read) engine.read(number, half);
    if (access == Access::write) engine.write(number, half);
    if (access == Access::reduce) engine.reduce(number);
  }
}

void expect_all_but_dram_writes(const Counters& counters, const LineCounts& expected) {
  RC_ASSERT(counters.l2_read_miss_sectors.value_or(0) == 4 * expected.near_misses);
  RC_ASSERT(counters.fabric_read_sectors.value_or(0) == 4 * expected.fabric_reads);
  RC_ASSERT(counters.fabric_read_miss_sectors.value_or(0) == 4 * expected.fabric_misses);
  RC_ASSERT(counters.dram_read_sectors.value_or(0) == 4 * expected.dram_reads);
  RC_ASSERT(counters.l2_write_miss_sectors.value_or(0) == 4 * expected.write_misses);
}

RC_GTEST_PROP(TwoHalves, CountsWhatTheLineEngineCountsWhenSetsAreOff, ()) {
  constexpr AtomId read_atoms = 12;
  constexpr AtomId atoms = 16;  // the last four are only written
  HalvesParameters parameters;
  parameters.capacity_lines = *rc::gen::inRange<int64_t>(1, 40);
  HalvesInStep l2 = l2_of(parameters, atoms);
  LineEngine lines = lines_without_sets(parameters.capacity_lines, atoms);
  const auto trace = *rc::gen::container<std::vector<std::pair<AtomId, int>>>(
      rc::gen::pair(rc::gen::inRange<AtomId>(0, atoms), rc::gen::inRange(0, 2)));
  for (const auto& [atom, half] : trace) {
    // By one half, as a launch writes a tile: a copy that is dropped leaves room, which lines of an
    // atom at the tail use that left it whole.
    const bool reads = atom < read_atoms;
    const Access access = reads ? Access::read : Access::write;
    const int by_half = reads ? half : static_cast<int>(atom % 2);
    l2.visit(by(atom, access, by_half == 0, by_half == 1));
    visit_lines(lines, atom, access, by_half);
  }
  const Counters counters = l2.counters(Tensor::q);
  const LineCounts& expected = lines.counts();
  expect_all_but_dram_writes(counters, expected);
  // The atom at the tail leaves whole: two lines a half may leave earlier than one by one.
  const int64_t early = counters.dram_write_sectors.value_or(0) - 4 * expected.dram_writes;
  RC_ASSERT(std::abs(early) <= 2 * 2 * 4);
}

// The smallest caches are simulated whole: one piece a line, as the line engine has them.
RC_GTEST_PROP(TwoHalves, CountsWhatTheLineEngineCountsWithSetsOn, ()) {
  constexpr AtomId atoms = 16;
  HalvesParameters parameters;
  parameters.ways = *rc::gen::element(1, 2, 3, 4, 16, 18);
  parameters.capacity_lines = parameters.ways * *rc::gen::inRange<int64_t>(1, 12);
  parameters.dirty_ways = *rc::gen::inRange(0, parameters.ways + 1);
  parameters.scattered = *rc::gen::element(0.0, 0.2);
  const int64_t sets = parameters.capacity_lines / parameters.ways;
  // Half of a way too many for `reserved` to lie inside its bounds.
  if (parameters.ways > 1) parameters.reserved = *rc::gen::element(0.0, 0.4 / parameters.ways);
  HalvesInStep l2 = l2_of(parameters, atoms);
  LineEngine lines(parameters, sets, atoms * lines_per_atom);
  const auto trace = *rc::gen::container<std::vector<std::tuple<AtomId, int, Access>>>(
      rc::gen::tuple(rc::gen::inRange<AtomId>(0, atoms), rc::gen::inRange(0, 2),
                     rc::gen::element(Access::read, Access::write, Access::reduce)));
  for (const auto& [atom, half, access] : trace) {
    l2.visit(by(atom, access, half == 0, half == 1));
    visit_lines(lines, atom, access, half);
  }
  const Counters counters = l2.counters(Tensor::q);
  const LineCounts& expected = lines.counts();
  expect_all_but_dram_writes(counters, expected);
  RC_ASSERT(counters.dram_write_sectors.value_or(0) == 4 * expected.dram_writes);
}

// Copies from and to other GPUs. SMs write a line, and read it, at its home. Of a copy engine lines
// go, or are looked for at home and stay where they are.
RC_GTEST_PROP(TwoHalves, CountsLinesThatCrossTheLinkAsTheLineEngineDoes, ()) {
  constexpr AtomId atoms = 16;
  enum class Act { read, write, receive, send };
  HalvesParameters parameters;
  parameters.ways = *rc::gen::element(2, 4, 16);
  parameters.capacity_lines = parameters.ways * *rc::gen::inRange<int64_t>(1, 12);
  parameters.dirty_ways = *rc::gen::inRange(0, parameters.ways + 1);
  const Copier copier = *rc::gen::element(Copier::copy_engine, Copier::sms);
  const bool by_sms = copier == Copier::sms;
  HalvesInStep l2 = l2_of(parameters, atoms);
  LineEngine lines(parameters, parameters.capacity_lines / parameters.ways, atoms * lines_per_atom);
  const auto trace = *rc::gen::container<std::vector<std::tuple<AtomId, int, Act>>>(
      rc::gen::tuple(rc::gen::inRange<AtomId>(0, atoms), rc::gen::inRange(0, 2),
                     rc::gen::element(Act::read, Act::write, Act::receive, Act::send)));
  int64_t received = 0, sent = 0, received_misses = 0, sent_misses = 0;
  for (const auto& [any_atom, half, act] : trace) {
    // Buffers that copies write no SM writes.
    const AtomId atom = act == Act::receive ? any_atom / 4 + 12
                        : act == Act::write ? any_atom % 12
                                            : any_atom;
    if (act == Act::read || act == Act::write)
      l2.visit(by(atom, act == Act::read ? Access::read : Access::write, half == 0, half == 1));
    if (act == Act::receive) l2.receive(atom, copier);
    if (act == Act::send) l2.send(atom, copier);
    received += act == Act::receive ? 16 : 0;
    sent += act == Act::send ? 16 : 0;
    for (int line = 0; line < lines_per_atom; ++line) {
      const int64_t number = atom * lines_per_atom + line;
      const bool missing = !lines.holds_at_home(number);
      if (act == Act::read) lines.read(number, half);
      if (act == Act::write) lines.write(number, half);
      if (act == Act::send) {
        sent_misses += missing;
        if (by_sms) lines.read(number, lines.home(number));
      }
      if (act == Act::receive) {
        received_misses += missing;
        if (by_sms) lines.write(number, lines.home(number));
        if (!by_sms) lines.remove(number);
      }
    }
  }
  const Counters counters = l2.counters(Tensor::q);
  // What copies miss is no miss of this GPU's SMs, but of DRAM.
  LineCounts expected = lines.counts();
  if (by_sms) {
    expected.dram_reads -= sent_misses;
    expected.near_misses -= sent_misses;
    expected.write_misses -= received_misses;
  }
  RC_ASSERT(counters.dram_read_sectors.value_or(0) == 4 * (expected.dram_reads + sent_misses));
  RC_ASSERT(counters.l2_read_miss_sectors.value_or(0) == 4 * expected.near_misses);
  RC_ASSERT(counters.l2_write_miss_sectors.value_or(0) == 4 * expected.write_misses);
  RC_ASSERT(counters.dram_write_sectors.value_or(0) ==
            4 * expected.dram_writes + (by_sms ? 0 : received));
  RC_ASSERT(counters.incoming_write_sectors.value_or(0) == received);
  RC_ASSERT(counters.outgoing_read_sectors.value_or(0) == sent);
}

// A reduction is a write whose miss reads from DRAM, and that counts once more where it crosses.
RC_GTEST_PROP(TwoHalves, CountsReductionsAsTheLineEngineCountsWrites, ()) {
  constexpr AtomId read_atoms = 12;
  constexpr AtomId atoms = 16;  // the last four are only added to
  HalvesParameters parameters;
  parameters.capacity_lines = *rc::gen::inRange<int64_t>(1, 40);
  HalvesInStep l2 = l2_of(parameters, atoms);
  LineEngine lines = lines_without_sets(parameters.capacity_lines, atoms);
  const auto trace = *rc::gen::container<std::vector<std::pair<AtomId, int>>>(
      rc::gen::pair(rc::gen::inRange<AtomId>(0, atoms), rc::gen::inRange(0, 2)));
  int64_t sent_and_crossing = 0;  // sectors
  for (const auto& [atom, half] : trace) {
    if (atom < read_atoms) {
      l2.visit(by(atom, Access::read, half == 0, half == 1));
      visit_lines(lines, atom, Access::read, half);
      continue;
    }
    l2.visit(by(atom, Access::reduce, half == 0, half == 1));
    for (int line = 0; line < lines_per_atom; ++line) {
      lines.write(atom * lines_per_atom + line, line / 2);  // at its home
      sent_and_crossing += 4 + (line / 2 != half ? 4 : 0);
    }
  }
  const Counters counters = l2.counters(Tensor::q);
  const LineCounts& expected = lines.counts();
  RC_ASSERT(counters.l2_reduction_sectors.value_or(0) == sent_and_crossing);
  RC_ASSERT(counters.l2_read_miss_sectors.value_or(0) == 4 * expected.near_misses);
  RC_ASSERT(counters.dram_read_sectors.value_or(0) ==
            4 * (expected.dram_reads + expected.write_misses));
  RC_ASSERT(!counters.l2_write_miss_sectors.has_value());
  const int64_t early = counters.dram_write_sectors.value_or(0) - 4 * expected.dram_writes;
  RC_ASSERT(std::abs(early) <= 2 * 2 * 4);
}

// 16 sectors, half of them at home in either half: 3 workers at half 0 and 1 at half 1 send 64, of
// which 3 x 8 and 8 cross. An undivided L2 counts what is sent.
TEST(TwoHalves, CountsAReductionThatCrossesTwice) {
  HalvesParameters parameters;
  parameters.capacity_lines = 100;
  HalvesInStep two = l2_of(parameters, 1);
  two.visit(by(0, Access::reduce, 3, 1));
  EXPECT_EQ(two.counters(Tensor::q).l2_reduction_sectors, 64 + 32);
  EXPECT_EQ(two.counters(Tensor::q).dram_read_sectors, 16);
  EXPECT_EQ(two.counters(Tensor::q).cold_read_sectors, 16);
  parameters.halves = 1;
  HalvesInStep one = l2_of(parameters, 1);
  one.visit(by(0, Access::reduce, 3, 1));
  EXPECT_EQ(one.counters(Tensor::q).l2_reduction_sectors, 64);
  EXPECT_EQ(one.counters(Tensor::q).dram_read_sectors, 16);
}

// 8 sets of 4 ways: 1024 lines in turn fill every set with 128, whatever else is asked for.
TEST(SetPlacement, FillsEverySetAlikeHomeByHome) {
  SetPlacement placement({}, 8);
  for (const int home : {0, 1}) {
    std::vector<int> lines(8, 0);
    for (int64_t line = 0; line < 1024; ++line)
      ++lines[static_cast<size_t>(placement.set_of(line, home))];
    EXPECT_EQ(lines, std::vector<int>(8, 128));
  }
}

// 64 MiB in tiles of 128 lines through halves of 30 MiB, of which a sample of sets is simulated:
// cold counts are exact whatever the sample.
TEST(SampledSets, CountColdReadsExactly) {
  const HalvesParameters parameters{.capacity_lines = int64_t{30} << 13, .ways = 16};
  constexpr size_t tiles = 4096;
  constexpr AtomSize tile{.lines = 128, .sectors = 512};
  HalvesInStep l2 = l2_of(parameters, tiles, tile);
  for (AtomId atom = 0; atom < tiles; ++atom) l2.visit(by(atom, Access::read, 1, 0));
  EXPECT_EQ(l2.counters(Tensor::q).dram_read_sectors, int64_t{tiles} * 512);
  EXPECT_EQ(l2.counters(Tensor::q).l2_read_miss_sectors, int64_t{tiles} * 512);
  EXPECT_EQ(l2.counters(Tensor::q).fabric_read_sectors, int64_t{tiles} * 256);
}

// An atom of 1,024 sectors, of which 16 pieces stand for the lines: each sector is sent once, and
// those whose home is the other half cross and count again.
TEST(SampledSets, ReductionsCountAgainWhereTheyCross) {
  const HalvesParameters parameters{.capacity_lines = int64_t{30} << 13, .ways = 16};
  constexpr AtomSize tile{.lines = 256, .sectors = 1024};
  auto l2 = l2_of<TwoHalves>(parameters, 4, tile);
  l2.reduce(0, {1, 0});
  EXPECT_EQ(l2.tally(Tensor::q).reduced, 1024 + 512);
  l2.reduce(3, {2, 1});
  EXPECT_EQ(l2.tally(Tensor::q).reduced, 1536 + 3 * 1024 + 3 * 512);
}

// A line that both halves want: 1 fabric read and 1 DRAM read, 2 - f near misses, f fabric misses.
TEST(TwoHalves, CountsTheShareThatTheFarHalfReachesFirst) {
  HalvesInStep l2 = l2_of({.capacity_lines = 100, .far_first_waiting = 0.25}, 1);
  l2.visit(by(0, Access::read, 66, 66));
  EXPECT_EQ(l2.counters(Tensor::q).l2_read_miss_sectors, 28);  // (2 - 0.25) 16
  EXPECT_EQ(l2.counters(Tensor::q).fabric_read_sectors, 16);
  EXPECT_EQ(l2.counters(Tensor::q).fabric_read_miss_sectors, 4);
  EXPECT_EQ(l2.counters(Tensor::q).dram_read_sectors, 16);
}

TEST(TwoHalves, RefusesParametersOutOfRangeByName) {
  HalvesParameters parameters;
  EXPECT_THROW(check(parameters), std::invalid_argument);  // no capacity
  parameters.capacity_lines = 1;
  EXPECT_NO_THROW(check(parameters));
  parameters.halves = 3;
  EXPECT_THROW(check(parameters), std::invalid_argument);
}

// A reserved line is a way of its set: a set of one way would have none.
TEST(TwoHalves, RefusesReservedLinesInSetsOfOneWay) {
  HalvesParameters parameters{.capacity_lines = 64, .ways = 1, .reserved = 0.01};
  EXPECT_THROW(check(parameters), std::invalid_argument);
  parameters.reserved = 0;
  EXPECT_NO_THROW(check(parameters));
}

// An atom that leaves by parts is written back line by line.
RC_GTEST_PROP(SimulateHalves, WithOneHalfAndNoSetsIsTheLru, ()) {
  const bool forward = tests::between(0, 1) == 1;
  Request request = forward ? tests::any_request() : tests::any_backward_request();
  request.schedule.prefetch = forward ? tests::between(0, 2) : 0;
  request.l2_bytes += line_bytes;
  const HalvesParameters parameters{.halves = 1, .capacity_lines = request.l2_bytes / line_bytes};
  const Prediction lru = simulate_lru(request), halves = simulate_halves(request, parameters, {});
  for (size_t t = 0; t < size_t{tensor_count}; ++t)
    for (const auto& [name, member] : counter_columns)
      RC_ASSERT(!(lru.by_tensor[t].*member) ||
                (halves.by_tensor[t].*member).value_or(0) == *(lru.by_tensor[t].*member));
}

// Three lines hold no tile of four: each of three workers drives out what the next one reads.
TEST(TwoHalves, EveryWorkerMissesATileThatExceedsTheCache) {
  HalvesInStep l2 = l2_of({.halves = 1, .capacity_lines = 3}, 1);
  l2.visit(by(0, Access::read, 2, 1));
  EXPECT_EQ(l2.counters(Tensor::q).l2_read_sectors, 3 * 16);
  EXPECT_EQ(l2.counters(Tensor::q).dram_read_sectors, 3 * 16);
  EXPECT_EQ(l2.counters(Tensor::q).cold_read_sectors, 16);
}

TEST(Coalescer, MergesNothingForALoneReaderAndMostForAllInStep) {
  constexpr CoalescerParameters parameters{
      .sms = 132, .waiting_share = 0.25, .running_share = 0.75};
  EXPECT_EQ(passed_share(parameters, 1, 0), 1);
  EXPECT_DOUBLE_EQ(passed_share(parameters, 132, 0), 0.25);
  EXPECT_DOUBLE_EQ(passed_share(parameters, 132, 1), 0.75);
  EXPECT_EQ(passed_share({}, 132, 0), 1);
}

// K and V of 2 MiB in halves of 30 MiB: whatever each worker prefetches, DRAM has every line once.
TEST(HalvesInStep, PrefetchOfWhatFitsReadsDramOnce) {
  Request request;
  request.problem.seq_q = request.problem.seq_kv = 8192;
  request.problem.mask = {MaskKind::causal, 0};
  request.schedule.workers = 64;
  const HalvesParameters parameters{.capacity_lines = 245760, .ways = 16};
  for (const int64_t prefetch : {0, 2}) {
    request.schedule.prefetch = prefetch;
    const Counters total = simulate_halves(request, parameters, {}).total;
    EXPECT_EQ(total.dram_read_sectors, total.cold_read_sectors) << prefetch;
  }
}

}  // namespace
}  // namespace sawtooth::sim
