// Where the Hopper backward kernel puts dS and dQ, on the host: each against the rule of the one
// that reads it.
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/hopper/backward/dq_part.hpp"
#include "kernels/hopper/backward/score_place.hpp"
#include "kernels/hopper/descriptor.hpp"
#include "kernels/hopper/fragment.hpp"

namespace sawtooth::kernels::hopper {
namespace {

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

// Piece by piece the conversion finds every accumulator of a part at its row and column.
TEST(DqPart, IsConvertedFromWhereTheConsumersLeaveIt) {
  std::set<std::pair<int, int>> seen;
  for (int number = 0; number < dq_pieces; ++number) {
    const DqPiece piece = dq_piece(number);
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
    }
  }
  EXPECT_EQ(seen.size(), size_t(dq_part_floats));
}

}  // namespace
}  // namespace sawtooth::kernels::hopper
