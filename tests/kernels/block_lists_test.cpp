// Lists of tiles as kernels read them, against every pair of a row and a key.
#include "kernels/common/block_lists.hpp"

#include <gtest/gtest.h>

#include "kernels/common/lane_columns.hpp"
#include "tests/kernels/host_lists.hpp"

namespace sawtooth::kernels {
namespace {

constexpr Tiling tiling{32, 16};

struct Lists {
  Problem problem;
  HostLists host;
  const ListedTiles& tiles = *host.mask().listed;

  Lists(ListKind kind, uint64_t seed, const Problem& of)
      : problem(of), host(kind, of, tiling, seed) {}
};

/// Whether every row of Q tile `q_tile` sees every key of a tile that has all of its keys.
bool is_whole(const Lists& lists, int64_t q_tile, int64_t tile) {
  const Range rows = tile_rows(q_tile, tiling.q_rows, lists.problem.seq_q);
  const int64_t end = (tile + 1) * tiling.kv_rows;
  if (end > lists.problem.seq_kv) return false;
  for (int64_t row = rows.begin; row < rows.end; ++row)
    for (int64_t key = tile * tiling.kv_rows; key < end; ++key)
      if (!sees(lists.tiles, row, key)) return false;
  return true;
}

// Rows whose two ranges touch in one row and not in the next may be taken for partial, so only
// those of one range must be found whole.
TEST(ListEntries, CallATilePartialWhereSomeRowDoesNotSeeSomeKey) {
  int64_t whole = 0, partial = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto kind = ListKind(seed % list_kinds);
    Problem problem;
    problem.seq_q = 1 + int64_t(seed * 7 % 90);
    problem.seq_kv = 1 + int64_t(seed * 13 % 150);
    const Lists lists(kind, seed, problem);
    const TileLists& of_q = lists.tiles.of_q;
    const std::vector<int32_t> entries = list_entries(problem, tiling, lists.tiles);
    ASSERT_EQ(int64_t(entries.size()), of_q.begin[q_tiles(problem, tiling)]);
    for (int64_t q_tile = 0; q_tile < q_tiles(problem, tiling); ++q_tile)
      for (Range at = of_q.places(q_tile); at.begin < at.end; ++at.begin) {
        const int32_t entry = entries[size_t(at.begin)];
        ASSERT_EQ(tile_of_entry(entry), of_q.tiles[at.begin]);
        const bool two_ranges = kind == ListKind::sinks || kind == ListKind::anything;
        const bool sees_all = is_whole(lists, q_tile, tile_of_entry(entry));
        ASSERT_TRUE(is_partial(entry) ? two_ranges || !sees_all : sees_all) << "seed " << seed;
        ++(is_partial(entry) ? partial : whole);
      }
  }
  EXPECT_GT(whole, 100);
  EXPECT_GT(partial, 100);
}

TEST(ListEntries, StandBetweenTheBoundsOfTheirTiles) {
  const int64_t begin[] = {0, 5};
  const int32_t entries[] = {1, 4, 7, 8, 13};  // tiles 0, 2, 3, 4 and 6
  const TileLists lists{begin, entries};
  EXPECT_EQ(lists.within(lists.places(0), entries_of({2, 4})), (Range{1, 3}));
  EXPECT_EQ(lists.within(lists.places(0), entries_of({0, 7})), (Range{0, 5}));
  EXPECT_EQ(lists.first_from({1, 5}, entries_of({5, 0}).begin), 4);
}

TEST(AccumulatorsIn, AreThoseWhoseKeysTheSpansContain) {
  constexpr int keys = 64, first_tile = 3 * keys;
  std::mt19937 generator(3);
  const auto key = [&] { return int32_t(generator() % (first_tile + 2 * keys)); };
  for (int round = 0; round < 2000; ++round) {
    const KeySpans spans{key(), key(), key(), key()};
    for (int lane = 0; lane < 4; ++lane) {
      const uint64_t seen = accumulators_in(spans, first_tile + 2 * lane, keys);
      for (int place = 0; place < keys / 4; ++place) {
        const int64_t at = first_tile + 2 * lane + place / 2 * 8 + place % 2;
        ASSERT_EQ((seen >> place & 1) != 0, spans.contain(at)) << round << " " << at;
      }
    }
  }
}

}  // namespace
}  // namespace sawtooth::kernels
