#include "kernels/mma/shared_tile.hpp"

#include <set>

#include <gtest/gtest.h>

namespace sawtooth::kernels {
namespace {

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

}  // namespace
}  // namespace sawtooth::kernels
