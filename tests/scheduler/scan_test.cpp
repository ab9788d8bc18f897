#include "scheduler/scan.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth {
namespace {

std::vector<int64_t> positions(ScanId scan, const ScanContext& context) {
  std::vector<int64_t> visited;
  for (int64_t step = 0; step < context.tiles; ++step) {
    visited.push_back(scan_position(scan, context, step));
  }
  return visited;
}

using Positions = std::vector<int64_t>;

RC_GTEST_PROP(Scan, EveryPolicyVisitsEveryTileOnce, ()) {
  ScanContext context;
  context.tiles = tests::between(1, 200);
  context.item = tests::between(0, 500);
  context.items_before = tests::between(0, 50);
  context.own_tile = tests::between(0, 50);
  context.workers = tests::between(1, 50);
  context.attach_position = tests::between(0, context.tiles - 1);
  context.seed = static_cast<uint64_t>(tests::between(0, 1000));
  for (int32_t scan = 0; scan < Scans::size; ++scan) {
    Positions visited = positions({scan}, context);
    std::sort(visited.begin(), visited.end());
    for (int64_t tile = 0; tile < context.tiles; ++tile) {
      RC_ASSERT(visited[static_cast<size_t>(tile)] == tile);
    }
  }
}

TEST(Scan, VisitsTilesAsWorkedOutByHand) {
  struct Case {
    ScanId scan;
    ScanContext context;
    Positions visited;
  };
  const Case cases[] = {
      {scan_id<LinearScan>, {.tiles = 3}, {0, 1, 2}},
      {scan_id<ReverseScan>, {.tiles = 3}, {2, 1, 0}},
      // Sawtooth turns with the worker's own counter.
      {scan_id<SawtoothScan>, {.tiles = 3, .item = 7, .items_before = 4, .own_tile = 1}, {0, 1, 2}},
      {scan_id<SawtoothScan>, {.tiles = 3, .item = 8, .items_before = 5, .own_tile = 2}, {2, 1, 0}},
      {scan_id<SawtoothItemScan>, {.tiles = 2, .own_tile = 6}, {0, 1}},
      {scan_id<SawtoothItemScan>, {.tiles = 2, .own_tile = 7}, {1, 0}},
      // 4 workers: items 4..7 are wave 1, item 8 begins wave 2.
      {scan_id<SawtoothWaveScan>, {.tiles = 2, .item = 7, .workers = 4}, {1, 0}},
      {scan_id<SawtoothWaveScan>, {.tiles = 2, .item = 8, .workers = 4}, {0, 1}},
      // Attach begins where the head is and wraps.
      {scan_id<AttachScan>, {.tiles = 4, .attach_position = 2}, {2, 3, 0, 1}},
      // Items 5 and 6 of heads with 4 tiles begin at tiles 5 mod 4 and 6 mod 4.
      {scan_id<ShiftScan>, {.tiles = 4, .item = 5}, {1, 2, 3, 0}},
      {scan_id<ShiftScan>, {.tiles = 4, .item = 6}, {2, 3, 0, 1}}};
  for (const Case& one : cases)
    EXPECT_EQ(positions(one.scan, one.context), one.visited)
        << Scans::info()[static_cast<size_t>(one.scan.index)].name;
}

TEST(Scan, RandomDependsOnItemAndSeedOnly) {
  const ScanContext base{.tiles = 64, .item = 3, .seed = 1};
  ScanContext same = base;
  same.items_before = 9;
  ScanContext other_item = base;
  other_item.item = 4;
  ScanContext other_seed = base;
  other_seed.seed = 2;
  const ScanId random = scan_id<RandomScan>;
  EXPECT_EQ(positions(random, base), positions(random, same));
  EXPECT_NE(positions(random, base), positions(random, other_item));
  EXPECT_NE(positions(random, base), positions(random, other_seed));
}

TEST(Scan, RandomPutsEveryTileFirstAboutEquallyOften) {
  // 8 tiles, 8,000 items: 1,000 expected, standard deviation sqrt(8000 * 1/8 * 7/8) = 29.6.
  std::vector<int> first(8, 0);
  for (int64_t item = 0; item < 8000; ++item) {
    ++first[static_cast<size_t>(
        scan_position(scan_id<RandomScan>, {.tiles = 8, .item = item, .seed = 5}, 0))];
  }
  for (const int count : first) EXPECT_NEAR(count, 1000, 5 * 29.6);
}

TEST(Scan, NamesAreUniqueAndFoundByName) {
  std::set<std::string_view> names;
  for (const PolicyInfo& info : Scans::info()) names.insert(info.name);
  EXPECT_EQ(names.size(), static_cast<size_t>(Scans::size));
  EXPECT_EQ(Scans::find("sawtooth"), Scans::index_of<SawtoothScan>());
  EXPECT_FALSE(Scans::find("zigzag").has_value());
}

}  // namespace
}  // namespace sawtooth
