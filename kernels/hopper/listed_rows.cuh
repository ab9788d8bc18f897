// What a thread's two rows see of a partial tile, where the mask is lists of tiles. The spans come
// from memory, so they are asked for before the products of the step.
#pragma once

#include <cstdint>

#include "kernels/common/block_lists.hpp"
#include "kernels/hopper/layout.hpp"

namespace sawtooth::kernels::hopper {

/// The spans of a thread's rows; nothing where the mask is no lists.
template <bool Listed>
struct RowSpans {};

template <>
struct RowSpans<true> {
  KeySpans of_half[rows_a_thread];

  /// `row(half)` may lie behind the last of `seq_q` rows, whose spans it then takes.
  template <class Row>
  __device__ void load(const KeySpans* spans, int seq_q, int seq_kv, Row row) {
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      KeySpans& to = of_half[half];
      to = {0, 0, 0, seq_kv};
      if (spans == nullptr) continue;
      asm volatile("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to.early_begin), "=r"(to.early_end), "=r"(to.begin), "=r"(to.end)
                   : "l"(spans + min(row(half), seq_q - 1)));
    }
  }

  /// One bit an accumulator of the row: whether it sees the key there. `first_key` is that of the
  /// lane's first column, `keys` those of the tile.
  __device__ uint64_t visible(int half, int first_key, int keys) const {
    return accumulators_in(of_half[half], first_key, keys);
  }
};

}  // namespace sawtooth::kernels::hopper
