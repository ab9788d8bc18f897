// The engine of whole atoms against engines of single lines.
#include "sim/lru/stack_distance.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

using Bins = std::map<int64_t, int64_t>;  // distance -> line accesses; cold at -1

struct Trace {
  std::vector<AtomSize> sizes;
  std::vector<AtomId> visits;
};

/// Some thousand visits of uniform or mixed atoms: enough that slots run out more than once.
Trace any_trace() {
  Trace trace;
  const auto atoms = static_cast<size_t>(tests::between(1, 60));
  const int64_t largest = tests::between(1, 12);
  enum { one_size, any_size, two_sizes };  // two sizes are what log-sum-exp beside tiles makes
  const int64_t kind = tests::between(one_size, two_sizes);
  for (size_t i = 0; i < atoms; ++i) {
    const bool small = kind == two_sizes && i % 3 == 0;
    const auto lines = static_cast<uint32_t>(small              ? 1
                                             : kind == any_size ? tests::between(1, largest)
                                                                : largest);
    trace.sizes.push_back({lines, lines});
  }
  // A window of atoms that moves: near and far distances in one trace.
  std::mt19937_64 random(static_cast<uint64_t>(tests::between(0, 1 << 30)));
  const auto window = static_cast<size_t>(tests::between(1, static_cast<int64_t>(atoms)));
  const auto length = static_cast<size_t>(tests::between(0, 2400));
  for (size_t i = 0; i < length; ++i)
    trace.visits.push_back(static_cast<AtomId>((i / 7 + random() % window) % atoms));
  return trace;
}

Bins atom_bins(const Trace& trace) {
  StackDistance stack(trace.sizes);
  Bins bins;
  for (const AtomId atom : trace.visits) {
    const int64_t others = stack.visit(atom);
    const uint32_t lines = trace.sizes[atom].lines;
    bins[others == StackDistance::cold ? others : line_distance(others, lines, 0, false)] += lines;
  }
  return bins;
}

std::vector<uint32_t> first_lines(const Trace& trace) {
  std::vector<uint32_t> first{0};
  for (const AtomSize& size : trace.sizes) first.push_back(first.back() + size.lines);
  return first;
}

/// The obvious exact engine, line by line: a Fenwick tree over time (Fenwick, "A New Data Structure
/// for Cumulative Frequency Tables", 1994) and a dense table of last uses.
class LineEngine {
 public:
  LineEngine(uint32_t lines, size_t accesses) : last_(lines, 0), tree_(accesses + 1, 0) {}

  /// Distinct other lines since the last access to `line`; cold at its first.
  int64_t access(uint32_t line) {
    const uint32_t last = last_[line];
    const int64_t distance = last == 0 ? StackDistance::cold : live_ - sum_up_to(last);
    if (last == 0)
      ++live_;
    else
      add(last, ~uint32_t{0});
    last_[line] = ++now_;
    add(now_, 1);
    return distance;
  }

 private:
  void add(uint32_t time, uint32_t count) {
    for (; time < tree_.size(); time += time & -time) tree_[time] += count;
  }
  uint32_t sum_up_to(uint32_t time) const {
    uint32_t sum = 0;
    for (; time > 0; time &= time - 1) sum += tree_[time];
    return sum;
  }

  std::vector<uint32_t> last_;  // time of the last access, from 1 on; 0 is never
  std::vector<uint32_t> tree_;
  uint32_t now_ = 0;
  uint32_t live_ = 0;
};

Bins line_bins(const Trace& trace) {
  const std::vector<uint32_t> first = first_lines(trace);
  LineEngine engine(first.back(), size_t{first.back()} * trace.visits.size());
  Bins bins;
  for (const AtomId atom : trace.visits)
    for (uint32_t line = first[atom]; line < first[atom + 1]; ++line) ++bins[engine.access(line)];
  return bins;
}

RC_GTEST_PROP(StackDistance, EqualsTheLineLevelEngineBinByBin, ()) {
  const Trace trace = any_trace();
  RC_ASSERT(atom_bins(trace) == line_bins(trace));
}

// A list of atoms, the most recent first; one that is forgotten stays in it under no name.
class WeightedMattsonStack {
 public:
  int64_t visit(AtomId atom, uint32_t lines) {
    int64_t others = 0;
    for (auto place = stack_.begin(); place != stack_.end(); ++place) {
      if (place->atom == atom) {
        stack_.erase(place);
        stack_.push_front({atom, lines});
        return others;
      }
      others += place->lines;
    }
    stack_.push_front({atom, lines});
    return StackDistance::cold;
  }
  void forget(AtomRange atoms) {
    for (Place& place : stack_)
      if (place.atom >= atoms.begin && place.atom < atoms.end) place.atom = no_name;
  }

 private:
  static constexpr AtomId no_name = UINT32_MAX;
  struct Place {
    AtomId atom = no_name;
    uint32_t lines = 0;
  };
  std::list<Place> stack_;
};

// Atoms come, are visited and forgotten in any order.
RC_GTEST_PROP(StackDistance, ForgottenAtomsWeighOnAndReturnAsNewOnes, ()) {
  const Trace trace = any_trace();
  const auto all = static_cast<AtomId>(trace.sizes.size());
  const int64_t pause = tests::between(1, 200);
  StackDistance stack(std::span<const AtomSize>{});
  WeightedMattsonStack expected;
  std::mt19937_64 random(static_cast<uint64_t>(tests::between(0, 1 << 30)));
  AtomId known = 0;
  for (const AtomId atom : trace.visits) {
    for (; known <= atom; ++known) stack.add(trace.sizes[known].lines);
    RC_ASSERT(stack.visit(atom) == expected.visit(atom, trace.sizes[atom].lines));
    if (random() % static_cast<uint64_t>(pause) != 0) continue;
    const auto begin = static_cast<AtomId>(random() % known);
    const AtomRange gone{begin, std::min(all, begin + static_cast<AtomId>(random() % known))};
    stack.forget({gone.begin, std::min(gone.end, known)});
    expected.forget(gone);
  }
}

TEST(StackDistance, TheRowOfForgottenAtomsDoesNotGrow) {
  StackDistance stack(std::vector<AtomSize>(100, AtomSize{.lines = 3}));
  for (int time = 0; time < 1000; ++time) {
    for (AtomId atom = 0; atom < 100; ++atom) EXPECT_EQ(stack.visit(atom), StackDistance::cold);
    stack.forget({0, 100});
  }
  EXPECT_LE(stack.slots(), 2048);
}

// Batches end in the middle of leaves, at their ends, and are empty.
RC_GTEST_PROP(StackDistance, BatchesOfVisitsEqualSingleVisits, ()) {
  const Trace trace = any_trace();
  StackDistance one_by_one(trace.sizes);
  StackDistance in_batches(trace.sizes);
  std::mt19937_64 random(static_cast<uint64_t>(tests::between(0, 1 << 30)));
  std::span<const AtomId> left(trace.visits);
  while (!left.empty()) {
    const std::span<const AtomId> batch = left.first(std::min<size_t>(left.size(), random() % 90));
    left = left.subspan(batch.size());
    std::vector<int64_t> distances(batch.size());
    in_batches.visit(batch, distances);
    for (size_t i = 0; i < batch.size(); ++i) RC_ASSERT(one_by_one.visit(batch[i]) == distances[i]);
  }
}

RC_GTEST_PROP(StackDistance, RecencyOrderIsTheLruStack, ()) {
  const Trace trace = any_trace();
  StackDistance stack(trace.sizes);
  std::list<AtomId> expected;
  for (const AtomId atom : trace.visits) {
    stack.visit(atom);
    expected.remove(atom);
    expected.push_front(atom);
  }
  RC_ASSERT(stack.recency_order() == std::vector<AtomId>(expected.begin(), expected.end()));
}

// Small traces hardly fill the second level of sums, 1024 slots a node. These have four levels; the
// mixed sizes make bit planes of the digits 0 and 2.
TEST(StackDistance, ManyAtomsInManyLeavesEqualTheLineLevelEngine) {
  constexpr uint32_t atoms = 70'000;
  constexpr int visits = 700'000;
  for (const uint32_t lines_of_odd_atoms : {1U, 4U}) {
    std::vector<AtomSize> sizes;
    std::vector<uint32_t> first_line;
    uint32_t lines = 0;
    for (uint32_t atom = 0; atom < atoms; ++atom) {
      sizes.push_back({atom % 2 == 0 ? 1 : lines_of_odd_atoms, 4});
      first_line.push_back(lines);
      lines += sizes.back().lines;
    }
    StackDistance stack(sizes);
    LineEngine engine(lines, size_t{visits} * lines_of_odd_atoms);
    std::mt19937_64 random(1);
    for (int i = 0; i < visits; ++i) {
      const auto atom = static_cast<AtomId>(random() % (i % 3 == 0 ? atoms : 1000));
      int64_t distance = engine.access(first_line[atom]);
      for (uint32_t line = 1; line < sizes[atom].lines; ++line)
        distance = engine.access(first_line[atom] + line);
      const int64_t others = stack.visit(atom);
      ASSERT_EQ(others == StackDistance::cold ? others : others + sizes[atom].lines - 1, distance)
          << "visit " << i;
    }
  }
}

// A leaf has 64 slots and a node 16 children, so that sums begin to matter after 64, 1024, 16384
// and 262144 visits. A cyclic scan's distance is its length less one atom, whichever slot it ends
// at; pinned from both sides of each bound.
TEST(StackDistance, CyclicScansAroundFullLeavesAndNodesSeeAllOtherAtoms) {
  for (const uint32_t bound : {64U, 1024U, 16384U, 262144U}) {
    for (uint32_t atoms = bound - 1; atoms <= bound + 1; ++atoms) {
      const std::vector<AtomSize> sizes(atoms, AtomSize{128, 512});
      std::vector<AtomId> scan(atoms);
      std::iota(scan.begin(), scan.end(), AtomId{0});
      StackDistance stack(sizes);
      std::vector<int64_t> distances(atoms);
      for (int pass = 0; pass < 3; ++pass) {
        stack.visit(scan, distances);
        const int64_t expected = pass == 0 ? StackDistance::cold : 128 * int64_t{atoms - 1};
        ASSERT_TRUE(std::all_of(distances.begin(), distances.end(),
                                [&](int64_t distance) { return distance == expected; }))
            << atoms << " atoms, pass " << pass;
      }
    }
  }
}

TEST(StackDistance, MemoryIsBoundedByAtomsNotByVisits) {
  const std::vector<AtomSize> sizes(1000, AtomSize{128, 512});
  StackDistance stack(sizes);
  for (AtomId visit = 0; visit < 1'000'000; ++visit) stack.visit(visit % 1000);
  EXPECT_LE(stack.slots(), 8 * 1000);
}

// Atoms 0 and 2 are never visited: between two visits to atom 1 lie the 8 lines of atom 3.
TEST(StackDistance, AtomsWithoutLinesTakeANumberAlone) {
  StackDistance stack(std::vector<AtomSize>{{0, 0}, {4, 16}, {0, 0}, {8, 32}});
  EXPECT_EQ(stack.visit(1), StackDistance::cold);
  EXPECT_EQ(stack.visit(3), StackDistance::cold);
  EXPECT_EQ(stack.visit(1), 8);
}

TEST(StackDistance, TooManyLinesAreRefused) {
  const std::vector<AtomSize> huge{{UINT32_MAX, 1}, {UINT32_MAX - 1, 1}};
  EXPECT_THROW(StackDistance{huge}, std::invalid_argument);
  const std::vector<AtomSize> huge_units{{1U << 31, 1}, {1U << 31, 1}};  // two units of 2^31 lines
  StackDistance stack(huge_units);
  stack.visit(0);
  stack.visit(1);
  EXPECT_EQ(stack.visit(0), int64_t{1} << 31);
}

TEST(StackDistance, FewerDistancesThanVisitsAreRefused) {
  StackDistance stack(std::vector<AtomSize>(2, AtomSize{1, 4}));
  const std::vector<AtomId> atoms{0, 1};
  std::vector<int64_t> distances(1);
  EXPECT_THROW(stack.visit(atoms, distances), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
