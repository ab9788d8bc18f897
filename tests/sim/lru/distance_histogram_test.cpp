#include "sim/lru/distance_histogram.hpp"

#include <map>
#include <vector>

#include "scheduler/permutation.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

// Steps of 64 lines and distances that meet again, as schedules have them; 600 bins make the table
// grow five times and more.
RC_GTEST_PROP(DistanceHistogram, BinsAreThoseOfAMap, ()) {
  DistanceClass distances;
  std::map<int64_t, int64_t> expected;
  const int64_t step = tests::between(1, 64);
  const int64_t bins = tests::between(1, 600);
  const auto key = static_cast<uint64_t>(tests::between(0, 1 << 30));
  const int64_t adds = tests::between(0, 2 * bins);
  for (int64_t i = 0; i < adds; ++i) {
    const int64_t lines = step * permuted(i % bins, bins, key);
    distances.add(lines, i + 1);
    expected[lines] += i + 1;
  }
  std::vector<DistanceBin> expected_bins;
  for (const auto& [lines, sectors] : expected) expected_bins.push_back({lines, sectors});
  RC_ASSERT(distances.bins() == expected_bins);
}

TEST(DistanceHistogram, ACapacityMissesItsOwnDistanceAndHitsOneBelow) {
  DistanceClass distances;
  distances.add(10, 3);
  distances.add(11, 5);
  distances.add(0, 7);
  distances.add_cold(100);
  EXPECT_EQ(distances.misses(0), 115);  // no cache: everything
  EXPECT_EQ(distances.misses(1), 108);  // only immediate repetitions hit
  EXPECT_EQ(distances.misses(10), 108);
  EXPECT_EQ(distances.misses(11), 105);
  EXPECT_EQ(distances.misses(12), 100);  // only the cold ones are left
  EXPECT_EQ(distances.sectors(), 115);
}

}  // namespace
}  // namespace sawtooth::sim
