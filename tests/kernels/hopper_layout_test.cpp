// Layouts of kernels/hopper against the rules of the PTX ISA, and what a warpgroup sees of a tile.
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/hopper/backward/shape.hpp"
#include "kernels/hopper/layout.hpp"
#include "kernels/hopper/sight.hpp"
#include "tests/support/brute_force.hpp"

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

struct Element {
  int query;
  int key;
};

/// Byte of an element in the layout that wgmma reads: rows of 128 bytes, 16-byte chunk c of row r
/// at c xor (r mod 8) (PTX ISA, "Shared memory matrix layout", 128-byte swizzle).
int byte_of(Element element) {
  const int chunk = element.key / 8;
  return element.query * 128 + (chunk ^ element.query % 8) * 16 + element.key % 8 * 2;
}

/// PTX ISA, "stmatrix" with .x4 and .trans: thread t holds of matrix m the elements of rows
/// 2 (t % 4) and the next of its column t / 4 as it lies in memory; the address of row r of matrix
/// m is that of thread 8 m + r.
TEST(MatrixStore, LeavesTransposedAccumulatorsWhereWgmmaReadsThem) {
  constexpr int part_rows = 64;
  std::set<int> written;
  for (int thread = 0; thread < warpgroup_threads; ++thread) {
    const int warp_begin = thread / 32 * 32;
    const int lane = thread % 32;
    for (int i = 0; i < accumulators(part_rows); ++i) {
      // S^T: rows of the accumulator are keys, columns are queries.
      const Element held{quad_column(i) + column_offset(thread),
                         first_row(thread) + row_half(i) * row_half_distance};
      const int pair = i / 2;  // the register that pack_probabilities makes of it
      const int block = pair / 4;
      const int matrix = pair % 4;
      // In an untransposed fragment this thread's pair is row lane / 4, columns 2 (lane % 4) + i
      // % 2. Transposed on its way these are columns and rows in memory.
      const int row_in_memory = lane % 4 * 2 + i % 2;
      const int column_in_memory = lane / 4;
      const int address = int(matrix_store_offset(warp_begin + 8 * matrix + row_in_memory)) +
                          block * int(matrix_store_step) + column_in_memory * 2;
      EXPECT_EQ(address, byte_of(held)) << "thread " << thread << " register " << i;
      EXPECT_TRUE(written.insert(address).second);
    }
  }
  EXPECT_EQ(written.size(), size_t(part_rows * warpgroup_rows));
}

TEST(MatrixStore, MeetsEveryBankOnce) {
  for (int warp = 0; warp < 4; ++warp)
    for (int matrix = 0; matrix < 4; ++matrix) {
      std::set<uint32_t> chunks;
      for (int row = 0; row < 8; ++row)
        chunks.insert(matrix_store_offset(warp * 32 + matrix * 8 + row) % 128 / 16);
      EXPECT_EQ(chunks.size(), 8u);
    }
}

// Piece by piece the conversion finds every accumulator of a part at its row and column, of the
// last part of a padded row too.
TEST(DqPart, IsConvertedFromWhereTheConsumersLeaveIt) {
  for (const int columns : {16, 32, 48, dq_part_columns}) {
    std::set<std::pair<int, int>> seen;
    std::set<int> places;
    for (int number = 0; number < dq_pieces * columns / dq_part_columns; ++number) {
      const DqPiece piece = dq_piece(number, columns);
      for (int at = 0; at < 16; ++at) {
        const int place = dq_piece_offset(piece) + at;
        // Whose accumulator lies there.
        const int thread = place / 4 % warpgroup_threads;
        const int i = place / 4 / warpgroup_threads * 4 + place % 4;
        EXPECT_EQ(dq_chunk_offset(i / 4, thread) + i % 4, place);
        const int row = first_row(thread) + row_half(i) * row_half_distance;
        const int column = quad_column(i) + column_offset(thread);
        EXPECT_EQ(row, piece.row + at % 4 / 2 * row_half_distance);
        EXPECT_EQ(column, piece.column_block * 8 + at / 4 * 2 + at % 2);
        seen.emplace(row, column);
        places.insert(place);
      }
    }
    EXPECT_EQ(seen.size(), size_t(warpgroup_rows * columns));
    EXPECT_EQ(*places.rbegin(), warpgroup_rows * columns - 1);  // without a gap
  }
}

/// Keys behind the last one are seen by none.
bool sees(const Problem& problem, int64_t row, int64_t key) {
  return key < problem.seq_kv && tests::sees(problem, row, key);
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
