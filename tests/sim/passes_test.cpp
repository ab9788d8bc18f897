// Passes over N atoms, the closed forms of "Symmetric Locality" (arXiv 2407.19291): an LRU of C
// lines misses N P times in P linear passes when C < N and N times otherwise; P sawtooth passes
// miss N + (P - 1) max(0, N - C) times.
#include <vector>

#include <gtest/gtest.h>

#include "sim/lru/stack_distance.hpp"

namespace sawtooth::sim {
namespace {

constexpr int64_t pass_count = 7;

/// Line distances of `pass_count` passes over `atoms` atoms of `lines` lines. Inside an atom the
/// lines keep their order in both directions of the scan.
std::vector<int64_t> line_distances(int64_t atoms, uint32_t lines, bool sawtooth) {
  const std::vector<AtomSize> sizes(static_cast<size_t>(atoms), AtomSize{lines, lines});
  StackDistance stack(sizes);
  std::vector<int64_t> distances;
  for (int64_t pass = 0; pass < pass_count; ++pass) {
    for (int64_t i = 0; i < atoms; ++i) {
      const bool backwards = sawtooth && pass % 2 == 1;
      const int64_t others = stack.visit(static_cast<AtomId>(backwards ? atoms - 1 - i : i));
      const int64_t distance = others == StackDistance::cold ? others : others + lines - 1;
      distances.insert(distances.end(), lines, distance);
    }
  }
  return distances;
}

int64_t misses(const std::vector<int64_t>& distances, int64_t capacity_lines) {
  int64_t count = 0;
  for (const int64_t distance : distances) {
    if (distance == StackDistance::cold || distance >= capacity_lines) ++count;
  }
  return count;
}

TEST(Passes, LinearScansOfSingleLinesMissAllBelowTheFootprintAndNothingFromIt) {
  for (const int64_t n : {1, 2, 17, 100}) {
    const std::vector<int64_t> distances = line_distances(n, 1, false);
    EXPECT_EQ(misses(distances, n - 1), n * pass_count);
    EXPECT_EQ(misses(distances, n), n);
    EXPECT_EQ(misses(distances, n + 1), n);
  }
}

TEST(Passes, SawtoothScansOfSingleLinesMissTheExcessAtEveryTurn) {
  for (const int64_t n : {1, 2, 17, 100}) {
    const std::vector<int64_t> distances = line_distances(n, 1, true);
    for (int64_t capacity = 0; capacity <= n + 1; ++capacity) {
      const int64_t excess = capacity < n ? n - capacity : 0;
      EXPECT_EQ(misses(distances, capacity), n + (pass_count - 1) * excess) << n << " " << capacity;
    }
  }
}

TEST(Passes, AtomsOfManyLinesFollowTheSameFormsWholeAtomByWholeAtom) {
  // An atom hits when it fits whole beside the atoms between: in floor(C / T) atoms.
  constexpr uint32_t lines = 16;
  for (const int64_t n : {2, 17}) {
    const std::vector<int64_t> linear = line_distances(n, lines, false);
    const std::vector<int64_t> sawtooth = line_distances(n, lines, true);
    for (int64_t capacity = 0; capacity <= (n + 1) * lines; ++capacity) {
      const int64_t fit = capacity / lines;
      EXPECT_EQ(misses(linear, capacity), lines * (fit >= n ? n : n * pass_count));
      const int64_t excess = fit < n ? n - fit : 0;
      EXPECT_EQ(misses(sawtooth, capacity), lines * (n + (pass_count - 1) * excess));
    }
  }
}

}  // namespace
}  // namespace sawtooth::sim
