#include <gtest/gtest.h>

#include "kernels/hopper/fragment.hpp"
#include "kernels/hopper/sight.hpp"

namespace sawtooth::kernels::hopper {
namespace {

// The definition of scheduler/mask.hpp, pair by pair.
bool sees(const Problem& problem, int64_t row, int64_t key) {
  const int64_t d = problem.seq_kv - problem.seq_q;
  if (key >= problem.seq_kv) return false;
  if (problem.mask.kind == MaskKind::none) return true;
  if (key > row + d) return false;
  return problem.mask.kind == MaskKind::causal || row + d - problem.mask.window < key;
}

/// Calls `check(problem, first_row, first_key, keys)` for tiles of many small problems.
template <class Check>
void for_many_tiles(const Check& check) {
  for (const int keys : {80, 128, 176})
    for (const int64_t seq_q : {1, 64, 65, 200, 333})
      for (const int64_t seq_kv : {1, 64, 129, 300, 512})
        for (const Mask mask :
             {Mask{MaskKind::none}, Mask{MaskKind::causal}, Mask{MaskKind::window, 1},
              Mask{MaskKind::window, 64}, Mask{MaskKind::window, 300},
              Mask{MaskKind::window, INT64_MAX / 2}}) {
          Problem problem;
          problem.seq_q = seq_q;
          problem.seq_kv = seq_kv;
          problem.mask = mask;
          for (int row = 0; row < seq_q; row += warpgroup_rows)
            for (int key = 0; key < seq_kv; key += keys) check(problem, row, key, keys);
        }
}

TEST(Sight, NamesWhatTheRowsOfAWarpgroupSeeOfATile) {
  for_many_tiles([](const Problem& problem, int first_row, int first_key, int keys) {
    int seen = 0;
    int rows = 0;
    for (int64_t row = first_row; row < problem.seq_q && row < first_row + warpgroup_rows; ++row) {
      ++rows;
      for (int key = 0; key < keys; ++key) seen += sees(problem, row, first_key + key);
    }
    const Sight sight = sight_of(problem, first_row, warpgroup_rows, first_key, keys);
    EXPECT_TRUE(sight != Sight::nothing || seen == 0);
    EXPECT_TRUE(sight != Sight::all || seen == rows * keys);
    // With rows that do not exist the answer may be less precise, never wrong.
    if (rows == warpgroup_rows) {
      EXPECT_EQ(sight == Sight::nothing, seen == 0);
      EXPECT_EQ(sight == Sight::all, seen == rows * keys);
    }
  });
}

TEST(Sight, SpansHoldTheKeysThatARowSees) {
  for_many_tiles([](const Problem& problem, int row, int first_key, int keys) {
    const KeySpan span = keys_seen(problem, row, first_key);
    for (int key = 0; key < keys; ++key)
      EXPECT_EQ(key >= span.begin && key < span.end, sees(problem, row, first_key + key))
          << "row " << row << " key " << first_key + key;
  });
}

TEST(Sight, SpansHoldTheRowsThatSeeAKey) {
  for_many_tiles([](const Problem& problem, int first_row, int first_key, int keys) {
    for (int key = first_key; key < first_key + keys; ++key) {
      const RowSpan span = rows_seeing(problem, key, first_row);
      for (int row = 0; row < warpgroup_rows && first_row + row < problem.seq_q; ++row)
        EXPECT_EQ(row >= span.begin && row < span.end, sees(problem, first_row + row, key))
            << "row " << first_row + row << " key " << key;
    }
  });
}

TEST(AccumulatorsBetween, HasABitForEveryAccumulatorWhoseColumnLiesInside) {
  constexpr int columns = 128;
  for (int begin = 0; begin <= columns; ++begin)
    for (int end = 0; end <= columns; ++end) {
      const uint64_t bits = accumulators_between(begin, end);
      for (int i = 0; i < accumulators(columns); ++i) {
        const bool inside = quad_column(i) >= begin && quad_column(i) < end;
        ASSERT_EQ((bits >> place_in_row(i) & 1) != 0, inside) << i << ' ' << begin << ' ' << end;
      }
    }
}

}  // namespace
}  // namespace sawtooth::kernels::hopper
