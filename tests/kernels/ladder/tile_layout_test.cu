// How the banks of shared memory see a fragment, from the layouts alone: 32 banks of 4 bytes; a
// request takes as many wavefronts as the fullest bank has different words (CUDA C++ Programming
// Guide, "Shared Memory").
#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "kernels/ladder/level_3_swizzled.cuh"

namespace sawtooth::kernels::ladder {
namespace {

constexpr int banks = 32;
constexpr int elements_a_word = 2;

/// Wavefronts of one request in which lane l reads the element that `element_of_lane(l)` names.
template <class ElementOfLane>
int wavefronts(ElementOfLane element_of_lane) {
  std::array<std::set<int>, banks> words;
  for (int lane = 0; lane < 32; ++lane) {
    const int word = element_of_lane(lane) / elements_a_word;
    words[word % banks].insert(word);
  }
  size_t fullest = 0;
  for (const auto& bank : words) fullest = std::max(fullest, bank.size());
  return int(fullest);
}

/// A word of a K fragment: row lane / 4, pair lane % 4 (PTX ISA, fragments of m16n8k16).
template <class Tile>
int key_wavefronts(int row, int column) {
  return wavefronts([&](int lane) { return Tile::offset(row + lane / 4, column + lane % 4 * 2); });
}

/// A half word of a V fragment: row 2 (lane % 4), column lane / 4.
template <class Tile>
int value_wavefronts(int row, int column) {
  return wavefronts([&](int lane) { return Tile::offset(row + lane % 4 * 2, column + lane / 4); });
}

TEST(LadderTiles, RowMajorKeysTakeEightWavefrontsAndValuesFour) {
  // Rows are 256 bytes apart, a multiple of all 32 banks: eight rows, eight turns; four rows, four.
  for (int column = 0; column < head_dim; column += 8) {
    EXPECT_EQ(key_wavefronts<RowMajorTile>(8, column), 8);
    EXPECT_EQ(value_wavefronts<RowMajorTile>(16, column), 4);
    EXPECT_EQ(value_wavefronts<RowMajorTile>(17, column), 4);
  }
}

TEST(LadderTiles, SwizzledKeysAndValuesTakeOneWavefront) {
  for (int row = 0; row < tile_rows; row += 8)
    for (int column = 0; column < head_dim; column += 8) {
      EXPECT_EQ(key_wavefronts<SwizzledTile>(row, column), 1);
      EXPECT_EQ(value_wavefronts<SwizzledTile>(row, column), 1);
      EXPECT_EQ(value_wavefronts<SwizzledTile>(row + 1, column), 1);
    }
}

template <class Tile>
std::set<int> places() {
  std::set<int> all;
  for (int row = 0; row < tile_rows; ++row)
    for (int column = 0; column < head_dim; ++column) all.insert(Tile::offset(row, column));
  return all;
}

TEST(LadderTiles, EveryElementHasItsOwnPlaceInTheTile) {
  for (const auto& all : {places<RowMajorTile>(), places<SwizzledTile>()}) {
    EXPECT_EQ(all.size(), size_t(tile_elements));
    EXPECT_EQ(*all.begin(), 0);
    EXPECT_EQ(*all.rbegin(), tile_elements - 1);
  }
}

TEST(LadderTiles, ChunksStayWhole) {
  for (int row = 0; row < tile_rows; ++row)
    for (int column = 0; column < head_dim; column += chunk)
      for (int i = 0; i < chunk; ++i) {
        EXPECT_EQ(SwizzledTile::offset(row, column + i), SwizzledTile::offset(row, column) + i);
        EXPECT_EQ(SwizzledTile::offset(row, column) % chunk, 0);
      }
}

}  // namespace
}  // namespace sawtooth::kernels::ladder
