// Where a tile of fp32 Q, K or V lies in shared memory, and which lane reads what for products of
// m16n8k8 (tf32_tiles.cuh) and for scalar ones (scalar_products.cuh).
//
// The bytes lie as those of a tile of 16-bit elements with twice the columns (shared_tile.hpp): a
// panel has 32 columns, eight chunks of four. There is no ldmatrix for them, so every lane reads
// chunks of 16 bytes, and the order of a product's columns is chosen so that these do:
//   Q K^T   chunks 2 t + j hold the columns of lane t = lane % 4 in column block j of a panel, of
//           16 columns: two products, for the same order of the columns in Q and in K.
//   P V     keys 2 t and 2 t + 1 are columns t and t + 4 of a product, as the accumulators of S
//           hold them, and four output fragments share a chunk: column g of fragment f is element f
//           of chunk output_chunk(g).
// In each eight lanes that shared memory serves at once, row r of the eight lies at chunk c ^ r,
// and all eight are different (tests/kernels/float_tile_test.cpp).
//
// Plain C++: tests/kernels checks these maps without a GPU.
#pragma once

#include "kernels/mma/shared_tile.hpp"

namespace sawtooth::kernels {

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

/// The same of scalar products: a lane's row of Q, its first key of K, and its first chunk of a row
/// of V, which has those of output_chunk(2 t) and, XORed with output_chunk(1), of output_chunk(2 t
/// + 1).
template <class QTile, class KvTile>
struct ScalarLanes {
  SAWTOOTH_HD static constexpr int q(int lane) { return QTile::offset(0, lane / 4, 0); }
  SAWTOOTH_HD static constexpr int k(int lane) { return KvTile::offset(0, 2 * (lane % 4), 0); }
  SAWTOOTH_HD static constexpr int v(int lane) { return KvTile::offset(0, 0, lane % 4); }
};

}  // namespace sawtooth::kernels
