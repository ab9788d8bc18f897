#include "kernels/mma/mask_range.hpp"

#include <random>

#include <gtest/gtest.h>

namespace sawtooth::kernels {
namespace {

// The definition in docs and scheduler/mask.hpp, pair by pair.
bool sees(const Problem& problem, int64_t row, int64_t key) {
  const int64_t d = problem.seq_kv - problem.seq_q;
  if (problem.mask.kind == MaskKind::none) return true;
  if (key > row + d) return false;
  return problem.mask.kind == MaskKind::causal || row + d - problem.mask.window < key;
}

Problem random_problem(std::mt19937& generator) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  Problem problem;
  problem.seq_q = pick(1, 70);
  problem.seq_kv = pick(1, 70);
  problem.mask = {MaskKind(pick(0, 2)), pick(1, 50)};
  return problem;
}

// Of a Q tile the K/V tiles, and of a K/V tile the Q tiles, of which no pair is hidden.
TEST(MaskRange, ATileIsUnmaskedWhenEveryPairOfItIsSeen) {
  std::mt19937 generator(1);
  const Tiling tiling{16, 8};
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_problem(generator);
    for (int64_t q_tile = 0; q_tile < q_tiles(problem, tiling); ++q_tile) {
      const Range of_q = unmasked_kv_tiles(problem, tiling, q_tile);
      for (int64_t kv_tile = 0; kv_tile < kv_tiles(problem, tiling); ++kv_tile) {
        const Range of_kv = unmasked_q_tiles(problem, tiling, kv_tile);
        bool all = (kv_tile + 1) * tiling.kv_rows <= problem.seq_kv;
        const Range rows = tile_rows(q_tile, tiling.q_rows, problem.seq_q);
        for (int64_t row = rows.begin; row < rows.end; ++row)
          for (int64_t key = kv_tile * tiling.kv_rows; key < (kv_tile + 1) * tiling.kv_rows; ++key)
            all = all && sees(problem, row, key);
        EXPECT_EQ(kv_tile >= of_q.begin && kv_tile < of_q.end, all);
        EXPECT_EQ(q_tile >= of_kv.begin && q_tile < of_kv.end, all);
      }
    }
  }
}

TEST(MaskRange, SeenKeysAreThoseOfTheDefinition) {
  std::mt19937 generator(2);
  constexpr int64_t keys = 16;
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_problem(generator);
    for (int64_t row = 0; row < problem.seq_q; ++row)
      for (int64_t first = 0; first < problem.seq_kv; first += keys) {
        const Range seen = seen_keys(problem, row, first, keys);
        for (int64_t key = 0; key < keys; ++key)
          EXPECT_EQ(key >= seen.begin && key < seen.end,
                    first + key < problem.seq_kv && sees(problem, row, first + key));
      }
  }
}

TEST(MaskRange, SeeingRowsAreThoseOfTheDefinition) {
  std::mt19937 generator(4);
  constexpr int64_t rows = 16;
  for (int round = 0; round < 500; ++round) {
    const Problem problem = random_problem(generator);
    for (int64_t key = 0; key < problem.seq_kv + 5; ++key)
      for (int64_t first = 0; first < problem.seq_q; first += rows) {
        const Range seeing = seeing_rows_of(problem, key, first, rows);
        for (int64_t row = 0; row < rows && first + row < problem.seq_q; ++row)
          EXPECT_EQ(row >= seeing.begin && row < seeing.end,
                    key < problem.seq_kv && sees(problem, first + row, key));
      }
  }
}

}  // namespace
}  // namespace sawtooth::kernels
