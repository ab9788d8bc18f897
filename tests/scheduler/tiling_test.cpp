// Pairs of rows and of tiles that a mask lets see each other.
#include "scheduler/tiling.hpp"

#include <gtest/gtest.h>

#include "scheduler/mask.hpp"
#include "tests/support/brute_force.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth {
namespace {

// Queries fewer than, as many as and more than keys, and windows up to beyond all keys.
TEST(Mask, VisiblePairsAreThoseOfTheDefinition) {
  std::vector<Mask> masks{{}, {MaskKind::causal, 0}};
  for (int64_t window = 1; window <= 11; ++window) masks.push_back({MaskKind::window, window});
  for (const Mask mask : masks) {
    for (int64_t seq_q = 1; seq_q <= 9; ++seq_q) {
      for (int64_t seq_kv = 1; seq_kv <= 9; ++seq_kv) {
        const Problem problem{.seq_q = seq_q, .seq_kv = seq_kv, .mask = mask};
        int pairs = 0;
        for (int64_t row = 0; row < seq_q; ++row) {
          for (int64_t key = 0; key < seq_kv; ++key) pairs += tests::sees(problem, row, key);
        }
        EXPECT_EQ(visible_pairs(mask, seq_q, seq_kv), pairs)
            << "kind " << int(mask.kind) << ", window " << mask.window << ", " << seq_q << " x "
            << seq_kv;
      }
    }
  }
}

// 2^40 rows of a window of two keys: the first sees one, all others two.
TEST(Mask, VisiblePairsOfTheLongestSequencesAreCountedAtOnce) {
  const int64_t seq = int64_t{1} << 40;
  EXPECT_EQ(visible_pairs({MaskKind::window, 2}, seq, seq), 2 * double(seq) - 1);
}

RC_GTEST_PROP(Tiling, VisibleKvTilesAreThoseWithAVisiblePairOfRows, ()) {
  const Problem problem = tests::any_problem();
  const Tiling tiling = tests::any_tiling();
  for (int64_t q = 0; q < q_tiles(problem, tiling); ++q) {
    const Range visible = visible_kv_tiles(problem, tiling, q);
    for (int64_t kv = 0; kv < kv_tiles(problem, tiling); ++kv) {
      RC_ASSERT((visible.begin <= kv && kv < visible.end) ==
                tests::tile_sees(problem, tiling, q, kv));
    }
  }
}

RC_GTEST_PROP(Tiling, SeeingQTilesAreTheSamePairsFromTheOtherSide, ()) {
  const Problem problem = tests::any_problem();
  const Tiling tiling = tests::any_tiling();
  for (int64_t kv = 0; kv < kv_tiles(problem, tiling); ++kv) {
    const Range seeing = seeing_q_tiles(problem, tiling, kv);
    for (int64_t q = 0; q < q_tiles(problem, tiling); ++q) {
      RC_ASSERT((seeing.begin <= q && q < seeing.end) == tests::tile_sees(problem, tiling, q, kv));
    }
  }
}

RC_GTEST_PROP(Tiling, VisitedKvTilesAreThoseOfEveryQTileTogether, ()) {
  const Problem problem = tests::any_problem();
  const Tiling tiling = tests::any_tiling();
  int64_t together = 0;
  for (int64_t q = 0; q < q_tiles(problem, tiling); ++q)
    together += visible_kv_tiles(problem, tiling, q).size();
  RC_ASSERT(visited_kv_tiles(problem, tiling) == together);
}

// Causal, n Q tiles of 64 rows and n K/V tiles of 64 keys: 1 + 2 + ... + n.
TEST(Tiling, VisitedKvTilesOfTheLongestSequencesAreCountedAtOnce) {
  constexpr int64_t tiles = int64_t{1} << 24, rows = 64 * tiles;
  const Problem problem{.seq_q = rows, .seq_kv = rows, .mask = {MaskKind::causal, 0}};
  EXPECT_EQ(visited_kv_tiles(problem, {64, 64}), tiles * (tiles + 1) / 2);
}

RC_GTEST_PROP(Tiling, PartsOfAKvSplitAreDisjointAndCoverTheVisibleTiles, ()) {
  const int64_t tiles = tests::between(1, 50);
  const int64_t begin = tests::between(0, tiles);
  const Range visible{begin, tests::between(begin, tiles)};
  const int64_t parts = tests::between(1, 9);
  int64_t next = visible.begin;
  for (int64_t part = 0; part < parts; ++part) {
    const Range cut = part_of(visible, part, parts, tiles);
    if (cut.empty()) continue;
    RC_ASSERT(cut.begin == next);
    next = cut.end;
  }
  RC_ASSERT(next == visible.end);
}

}  // namespace
}  // namespace sawtooth
