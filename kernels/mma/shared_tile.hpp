// Where a tile of Q, K or V lies in shared memory, and which lane reads what.
//
// A tile is cut into panels of 64 (or 32) columns, each panel `rows` rows of 128 (or 64) bytes.
// The 16-byte chunks of a row are permuted by XOR with the row number, so that the eight rows of
// an 8x8 matrix fall on eight different groups of banks: ldmatrix without conflicts. It is the
// pattern of TMA's 128-byte (64-byte) swizzle (CUDA driver API, CUtensorMapSwizzle), so that
// cp.async and TMA fill the same tile. Tiles start on a multiple of 1024 bytes.
//
// Plain C++: tests/kernels checks these maps without a GPU.
#pragma once

#include "scheduler/host_device.hpp"

namespace sawtooth::kernels {

inline constexpr int chunk_bytes = 16;       // what a lane gives ldmatrix, and a cp.async moves
inline constexpr int chunk_elements = 8;     // of 16 bits
inline constexpr int tile_alignment = 1024;  // bytes: eight rows of 128, a period of the swizzle

template <int Rows, int HeadDim>
struct SharedTile {
  static_assert(HeadDim % 32 == 0 && Rows % 16 == 0);

  static constexpr int element_bytes = 2;
  static constexpr int rows = Rows;
  static constexpr int panel_columns = HeadDim % 64 == 0 ? 64 : 32;
  static constexpr int panels = HeadDim / panel_columns;
  static constexpr int row_chunks = panel_columns / chunk_elements;  // of one panel
  static constexpr int row_bytes = row_chunks * chunk_bytes;
  static constexpr int panel_bytes = Rows * row_bytes;
  static constexpr int bytes = panels * panel_bytes;

  /// What a row's chunk numbers are XORed with: eight rows of 128 bytes repeat after a row,
  /// rows of 64 bytes lie two to a bank period.
  SAWTOOTH_HD static constexpr int row_swizzle(int row) {
    return row_chunks == 8 ? row & 7 : (row >> 1) & 3;
  }

  /// Byte offset of 16-byte chunk `chunk` (of the panel's row) in row `row` of panel `panel`.
  SAWTOOTH_HD static constexpr int offset(int panel, int row, int chunk) {
    return panel * panel_bytes + row * row_bytes + ((chunk ^ row_swizzle(row)) * chunk_bytes);
  }

  /// Lane part of a ldmatrix.x4 whose matrices are (rows 0-7, chunk 0), (rows 8-15, chunk 0),
  /// (rows 0-7, chunk 1), (rows 8-15, chunk 1): an A fragment of Q, or transposed two B
  /// fragments of V.
  SAWTOOTH_HD static constexpr int lane_offset_rows_first(int lane) {
    return offset(0, lane % 16, lane / 16);
  }

  /// The same for (rows 0-7, chunk 0), (rows 0-7, chunk 1), (rows 8-15, chunk 0),
  /// (rows 8-15, chunk 1): two B fragments of K.
  SAWTOOTH_HD static constexpr int lane_offset_chunks_first(int lane) {
    return offset(0, lane % 8 + lane / 16 * 8, lane / 8 % 2);
  }

  /// The lane offset moved to columns [16 k, 16 k + 16) of the tile: an XOR inside the panel (the
  /// base of a tile has zeros there), an addition of `column_block_shift` between panels.
  SAWTOOTH_HD static constexpr int column_block_xor(int k) {
    return k % (panel_columns / 16) * (2 * chunk_bytes);
  }
  SAWTOOTH_HD static constexpr int column_block_shift(int k) {
    return k / (panel_columns / 16) * panel_bytes;
  }
};

// Where a tile of fp32 Q, K or V lies in shared memory, and which lane reads what for products of
// m16n8k8 (tf32_tiles.cuh).
//
// The bytes lie as those of a tile of 16-bit elements with twice the columns: a
// panel has 32 columns, eight chunks of four. There is no ldmatrix for them, so every lane reads
// chunks of 16 bytes, and the order of a product's columns is chosen so that these do:
//   Q K^T   chunks 2 t + j hold the columns of lane t = lane % 4 in column block j of a panel, of
//           16 columns: two products, for the same order of the columns in Q and in K.
//   P V     keys 2 t and 2 t + 1 are columns t and t + 4 of a product, as the accumulators of S
//           hold them, and four output fragments share a chunk: column g of fragment f is element f
//           of chunk output_chunk(g).
// In each eight lanes that shared memory serves at once, row r of the eight lies at chunk c ^ r,
// and all eight are different (tests/kernels/float_tile_test.cpp).

template <int Rows, int HeadDim>
struct FloatTile : SharedTile<Rows, 2 * HeadDim> {
  static_assert(HeadDim % 32 == 0);
  static constexpr int element_bytes = 4;
  static constexpr int chunk_floats = chunk_bytes / element_bytes;
  static constexpr int panel_floats = 32;

  /// A lane's first chunk of rows [0, 8) in column block 0.
  SAWTOOTH_HD static constexpr int row_lane(int lane) {
    return FloatTile::offset(0, lane / 4, 2 * (lane % 4));
  }
  /// From there to column block `block` of all, of 16 columns: an XOR and an addition.
  SAWTOOTH_HD static constexpr int block_xor(int block) { return block % 2 * chunk_bytes; }
  SAWTOOTH_HD static constexpr int block_shift(int block) {
    return block / 2 * FloatTile::panel_bytes;
  }

  /// Chunk of a panel whose elements are column g of four output fragments. Even columns lie in its
  /// first half and odd ones in its second, so that the four lanes of a quad have whole sectors.
  SAWTOOTH_HD static constexpr int output_chunk(int g) {
    return g % 2 == 0 ? g / 2 : 4 + (g / 2 ^ 1);
  }
  /// A lane's chunk of key 2 t of the first eight keys, in panel 0; that of key 2 t + 1 is a row
  /// further, its chunk number XORed with 1.
  SAWTOOTH_HD static constexpr int key_lane(int lane) {
    return FloatTile::offset(0, 2 * (lane % 4), output_chunk(lane / 4));
  }
  static constexpr int next_key_xor = chunk_bytes;
};

/// Where a lane's fragments begin in the tiles.
template <class QTile, class KvTile>
struct FloatLanes {
  SAWTOOTH_HD static constexpr int q(int lane) { return QTile::row_lane(lane); }
  SAWTOOTH_HD static constexpr int k(int lane) { return KvTile::row_lane(lane); }
  SAWTOOTH_HD static constexpr int v(int lane) { return KvTile::key_lane(lane); }
};

}  // namespace sawtooth::kernels
