// The Hopper kernel's address arithmetic, held on the host against the rules of the PTX ISA.
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/hopper/descriptor.hpp"
#include "kernels/hopper/fragment.hpp"

namespace sawtooth::kernels::hopper {
namespace {

// PTX ISA, "Matrix descriptor": bits 0-13 address, 16-29 leading offset, 32-45 stride offset (all
// in 16 bytes), 49-51 base offset, 62-63 swizzle with 1 = 128 bytes.
TEST(WgmmaDescriptor, PlacesEveryFieldWhereThePtxIsaSays) {
  // Address 0x2400 -> 0x240, leading 16 -> 1, stride 1024 -> 64.
  EXPECT_EQ(rows_descriptor(0x2400), 0x4000'0040'0001'0240ull);
  // 128 rows of a panel: the next panel of 64 columns is 128 x 128 = 16384 bytes on -> 0x400.
  EXPECT_EQ(columns_descriptor(0x2400, 128), 0x4000'0040'0400'0240ull);
  EXPECT_EQ(columns_descriptor(0x400, 176), 0x4000'0040'0580'0040ull);
}

TEST(WgmmaDescriptor, KeepsTheLastAddressOfSharedMemoryInsideItsField) {
  constexpr uint32_t largest_shared_bytes = 227 * 1024;
  const uint64_t last = rows_descriptor(largest_shared_bytes - 16);
  EXPECT_EQ(last & 0x3fff, (largest_shared_bytes - 16) / 16);
  EXPECT_EQ(last >> 14 & 3, 0u);
}

// Where the copy engine puts 16-byte chunk `chunk` of row `row`: CUDA driver API, 128B swizzle.
int swizzled(int row, int chunk) {
  return row * 128 + (chunk ^ (row % 8)) * 16;
}

TEST(WgmmaDescriptor, StepsThroughARowsTileSliceBySlice) {
  // Slice s begins at column 16 s: chunk 2 s mod 8 of panel s / 4, in row 0, which no swizzle
  // moves.
  constexpr int rows = 192;
  for (int slice = 0; slice < 8; ++slice) {
    const int panel = slice / 4;
    EXPECT_EQ(int(rows_slice_offset(slice, rows)), panel * rows * 128 + swizzled(0, slice % 4 * 2));
  }
}

TEST(WgmmaDescriptor, StepsThroughAColumnsTileBySixteenRows) {
  for (int slice = 0; slice < 11; ++slice) {
    EXPECT_EQ(int(columns_slice_offset(slice)), swizzled(16 * slice, 0));
    EXPECT_EQ(columns_slice_offset(slice) % swizzle_group_bytes, 0u);
  }
}

// PTX ISA, figure "WGMMA .m64nNk16 register fragment layout for accumulator matrix D".
TEST(AccumulatorFragment, CoversEveryElementOnce) {
  constexpr int columns = 176;
  std::set<std::pair<int, int>> seen;
  for (int thread = 0; thread < warpgroup_threads; ++thread) {
    for (int i = 0; i < accumulators(columns); ++i) {
      const int row = first_row(thread) + row_half(i) * row_half_distance;
      const int column = quad_column(i) + column_offset(thread);
      ASSERT_LT(row, warpgroup_rows);
      ASSERT_LT(column, columns);
      ASSERT_TRUE(seen.emplace(row, column).second) << "thread " << thread << " register " << i;
    }
  }
  EXPECT_EQ(seen.size(), size_t(warpgroup_rows * columns));
}

// Same chapter, "register fragment layout for matrix A": register r of slice s holds the pair of
// columns 16 s + 8 (r / 2) + 2 (lane % 4) of row lane / 4 + 8 (r % 2).
TEST(AccumulatorFragment, IsPairwiseTheAFragmentOfTheNextProduct) {
  for (int thread = 0; thread < warpgroup_threads; ++thread) {
    const int lane = thread % 32;
    for (int slice = 0; slice < 8; ++slice) {
      for (int r = 0; r < 4; ++r) {
        const int i = 8 * slice + 2 * r;  // what pack_probabilities puts into register 4 slice + r
        EXPECT_EQ(first_row(thread) % warp_rows + row_half(i) * row_half_distance,
                  lane / 4 + 8 * (r % 2));
        EXPECT_EQ(quad_column(i) + column_offset(thread),
                  16 * slice + 8 * (r / 2) + 2 * (lane % 4));
        EXPECT_EQ(quad_column(i + 1), quad_column(i) + 1);
        EXPECT_EQ(row_half(i + 1), row_half(i));
      }
    }
  }
}

}  // namespace
}  // namespace sawtooth::kernels::hopper
