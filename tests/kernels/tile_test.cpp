// Where tiles lie in shared memory, every element once and without a bank conflict, and what of
// them a mask hides.
#include <map>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/mma/mask_range.hpp"
#include "kernels/mma/shared_tile.hpp"
#include "tests/support/brute_force.hpp"

namespace sawtooth::kernels {
namespace {

using tests::sees;
using FloatTiles = testing::Types<FloatTile<64, 32>, FloatTile<64, 64>, FloatTile<32, 128>>;

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

// K/V tiles of a Q tile, and Q tiles of a K/V tile, are unmasked where no pair is hidden.
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

template <class T>
class SharedTileMaps : public testing::Test {};
using Tiles = testing::Types<SharedTile<64, 32>, SharedTile<128, 64>, SharedTile<80, 64>,
                             SharedTile<64, 96>, SharedTile<64, 128>, SharedTile<64, 256>>;
TYPED_TEST_SUITE(SharedTileMaps, Tiles);

TYPED_TEST(SharedTileMaps, GiveEveryChunkAPlaceOfItsOwn) {
  using Tile = TypeParam;
  std::set<int> offsets;
  for (int panel = 0; panel < Tile::panels; ++panel)
    for (int row = 0; row < Tile::rows; ++row)
      for (int chunk = 0; chunk < Tile::row_chunks; ++chunk)
        offsets.insert(Tile::offset(panel, row, chunk));
  EXPECT_EQ(int(offsets.size()) * chunk_bytes, Tile::bytes);
  EXPECT_EQ(*offsets.begin(), 0);
  EXPECT_EQ(*offsets.rbegin(), Tile::bytes - chunk_bytes);
}

// ldmatrix reads the eight rows of a matrix at once: they must lie in eight different groups of
// four of the 32 banks.
TYPED_TEST(SharedTileMaps, LetEightRowsOfAMatrixMissEachOthersBanks) {
  using Tile = TypeParam;
  constexpr int bank_period_bytes = 128;
  for (int panel = 0; panel < Tile::panels; ++panel)
    for (int row = 0; row < Tile::rows; row += 8)
      for (int chunk = 0; chunk < Tile::row_chunks; ++chunk) {
        std::set<int> bank_groups;
        for (int i = 0; i < 8; ++i)
          bank_groups.insert(Tile::offset(panel, row + i, chunk) % bank_period_bytes / 16);
        EXPECT_EQ(bank_groups.size(), 8u);
      }
}

// PTX ISA, mma.m16n8k16: matrices 0..3 of an A fragment are rows 0-7 and 8-15 of columns 0-7,
// then of columns 8-15; two B fragments of K take columns first.
TYPED_TEST(SharedTileMaps, GiveLanesTheRowsOfTheirMatrices) {
  using Tile = TypeParam;
  for (int k = 0; k < Tile::panels * Tile::panel_columns / 16; ++k)
    for (int lane = 0; lane < 32; ++lane) {
      const int matrix = lane / 8;
      const int panel = k * 16 / Tile::panel_columns;
      const int chunk = k * 16 % Tile::panel_columns / chunk_elements;
      const auto moved = [&](int lane_offset) {
        return (lane_offset ^ Tile::column_block_xor(k)) + Tile::column_block_shift(k);
      };
      EXPECT_EQ(moved(Tile::lane_offset_rows_first(lane)),
                Tile::offset(panel, matrix % 2 * 8 + lane % 8, chunk + matrix / 2));
      EXPECT_EQ(moved(Tile::lane_offset_chunks_first(lane)),
                Tile::offset(panel, matrix / 2 * 8 + lane % 8, chunk + matrix % 2));
    }
}

template <class T>
class FloatTileMaps : public testing::Test {};
TYPED_TEST_SUITE(FloatTileMaps, FloatTiles);

struct Place {
  int row;
  int column;
  auto operator<=>(const Place&) const = default;
};

/// Row and column of every float of a tile by its offset in bytes, as copy_tile writes them.
template <class Tile>
std::map<int, Place> places() {
  std::map<int, Place> places;
  for (int panel = 0; panel < Tile::panels; ++panel)
    for (int row = 0; row < Tile::rows; ++row)
      for (int chunk = 0; chunk < Tile::row_chunks; ++chunk)
        for (int i = 0; i < Tile::chunk_floats; ++i)
          places[Tile::offset(panel, row, chunk) + 4 * i] = {
              row, panel * Tile::panel_floats + chunk * Tile::chunk_floats + i};
  return places;
}

/// Shared memory serves loads of 16 bytes eight lanes at a time; their chunks must lie in eight
/// different groups of four of the 32 banks.
template <class OffsetOfLane>
void expect_no_conflict(OffsetOfLane offset_of_lane) {
  constexpr int bank_period_bytes = 128;
  for (int first = 0; first < 32; first += 8) {
    std::set<int> bank_groups;
    for (int lane = first; lane < first + 8; ++lane)
      bank_groups.insert(offset_of_lane(lane) % bank_period_bytes / chunk_bytes);
    EXPECT_EQ(bank_groups.size(), 8u) << first;
  }
}

// PTX ISA, mma.m16n8k8 of tf32: a lane's A elements are rows lane / 4 and lane / 4 + 8 of columns
// lane % 4 and lane % 4 + 4, its B elements those columns of row lane / 4 of B^T. Elements 0 and 1
// of a chunk are one product's two columns, elements 2 and 3 the next one's.
TYPED_TEST(FloatTileMaps, GiveBothFactorsOfQKTheSameColumnsInEveryProduct) {
  using Tile = TypeParam;
  const std::map<int, Place> place = places<Tile>();
  std::set<int> columns;
  for (int block = 0; block < 2 * Tile::panels; ++block) {
    const auto offset = [&](int lane) {
      return (Tile::row_lane(lane) ^ Tile::block_xor(block)) + Tile::block_shift(block);
    };
    expect_no_conflict(offset);
    for (int i = 0; i < Tile::chunk_floats; ++i)
      for (int lane = 0; lane < 32; ++lane) {
        const Place at = place.at(offset(lane) + 4 * i);
        EXPECT_EQ(at.row, lane / 4);
        EXPECT_EQ(at.column, place.at(offset(lane % 4) + 4 * i).column);  // whatever the row
        EXPECT_EQ(place.at(offset(lane) + 8 * Tile::row_bytes + 4 * i),
                  (Place{at.row + 8, at.column}));
        if (lane < 4) {
          EXPECT_TRUE(columns.insert(at.column).second);
        }
      }
  }
  EXPECT_EQ(int(columns.size()), Tile::panels * Tile::panel_floats);
}

// B elements of P V: rows lane % 4 and lane % 4 + 4 of column lane / 4, for P's keys 2 (lane % 4)
// and 2 (lane % 4) + 1, which are what an accumulator of S holds.
TYPED_TEST(FloatTileMaps, GivePVTheKeysOfTheAccumulatorsAndEveryColumnOnce) {
  using Tile = TypeParam;
  const std::map<int, Place> place = places<Tile>();
  std::set<std::pair<int, int>> seen;  // key, column
  for (int panel = 0; panel < Tile::panels; ++panel)
    for (int key = 0; key < Tile::rows; key += 8) {
      const auto even = [&](int lane) {
        return Tile::key_lane(lane) + panel * Tile::panel_bytes + key * Tile::row_bytes;
      };
      const auto odd = [&](int lane) {
        return (even(lane) ^ Tile::next_key_xor) + Tile::row_bytes;
      };
      expect_no_conflict(even);
      expect_no_conflict(odd);
      for (int lane = 0; lane < 32; ++lane)
        for (int f = 0; f < Tile::chunk_floats; ++f) {
          const int column =
              panel * Tile::panel_floats + Tile::output_chunk(lane / 4) * Tile::chunk_floats + f;
          EXPECT_EQ(place.at(even(lane) + 4 * f), (Place{key + 2 * (lane % 4), column}));
          EXPECT_EQ(place.at(odd(lane) + 4 * f), (Place{key + 2 * (lane % 4) + 1, column}));
          seen.emplace(key + 2 * (lane % 4), column);
          seen.emplace(key + 2 * (lane % 4) + 1, column);
        }
    }
  EXPECT_EQ(int(seen.size()), Tile::rows * Tile::panels * Tile::panel_floats);
}

// Lanes that read the same chunk are served by one reading of it.
template <class OffsetOfLane>
void expect_no_conflict_of_different_chunks(OffsetOfLane offset_of_lane) {
  constexpr int bank_period_bytes = 128;
  for (int first = 0; first < 32; first += 8) {
    std::set<int> chunks, bank_groups;
    for (int lane = first; lane < first + 8; ++lane) {
      chunks.insert(offset_of_lane(lane));
      bank_groups.insert(offset_of_lane(lane) % bank_period_bytes / chunk_bytes);
    }
    EXPECT_EQ(bank_groups.size(), chunks.size()) << first;
  }
}

// Accumulators 0 and 1 of a fragment are columns 2 (lane % 4) and 2 (lane % 4) + 1.
TEST(FloatTileOutput, LetsAQuadWriteWholeSectors) {
  using Tile = FloatTile<64, 32>;
  constexpr int chunks_a_sector = 2;
  for (int accumulator = 0; accumulator < 2; ++accumulator) {
    std::map<int, int> chunks;  // by sector
    for (int lane = 0; lane < 4; ++lane)
      ++chunks[Tile::output_chunk(2 * lane + accumulator) / chunks_a_sector];
    EXPECT_EQ(chunks.size(), 2u);
    for (const auto& [sector, count] : chunks) EXPECT_EQ(count, chunks_a_sector);
  }
}

}  // namespace
}  // namespace sawtooth::kernels
