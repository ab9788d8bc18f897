// How the fp32 sums of dQ lie in memory for this family: of each head bands of 8 rows, of a band
// blocks of as many columns as a warp adds to at once, row after row. So what an instruction adds
// to are whole lines that follow each other, not sectors of eight rows. Plain C++:
// tests/kernels reads them without a GPU.
#pragma once

#include <cstdint>
#include <type_traits>

#include "scheduler/host_device.hpp"

namespace sawtooth::kernels {

inline constexpr int dq_band_rows = 8;
template <class Element>
inline constexpr int dq_block_columns = std::is_same_v<Element, float> ? 16 : 8;

/// Floats from the first of a tile's sums, where the block begins whose first row and column, of
/// the tile, are multiples of a block's.
SAWTOOTH_HD constexpr int64_t dq_block_offset(int64_t row, int64_t column, int64_t head_dim) {
  return row * head_dim + column * dq_band_rows;
}

struct DqPlace {
  int64_t row;
  int64_t column;
};
/// The place is that of float number `index` of a head's sums.
template <class Element>
SAWTOOTH_HD constexpr DqPlace dq_place(int64_t index, int64_t head_dim) {
  constexpr int columns = dq_block_columns<Element>;
  const int64_t band = index / (dq_band_rows * head_dim);
  const int in_band = int(index - band * dq_band_rows * head_dim);
  const int in_block = in_band % (dq_band_rows * columns);
  return {band * dq_band_rows + in_block / columns,
          (in_band - in_block) / dq_band_rows + in_block % columns};
}

}  // namespace sawtooth::kernels
