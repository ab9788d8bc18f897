// Everything that is fixed when a variant of the backward kernel is compiled. The structure follows
// FlashAttention-3's backward pass (arXiv 2407.08608 and its code): S and dP transposed, a
// warpgroup for 64 keys.
#pragma once

#include <cstdint>

#include "kernels/hopper/backward/dq_part.hpp"
#include "kernels/hopper/descriptor.hpp"
#include "kernels/hopper/fragment.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels::hopper {

template <class ElementType, int HeadDim, int QRows, int KvRows, int Stages, int PartRows,
          bool Ordered>
struct BackwardShape {
  using Element = ElementType;
  static constexpr int head_dim = HeadDim;
  static constexpr int q_rows = QRows;
  static constexpr int kv_rows = KvRows;
  static constexpr int consumers = KvRows / warpgroup_rows;  // warpgroups of 64 keys each
  static constexpr int cluster = 1;
  static constexpr int stages = Stages;  // of Q, and of dO
  static constexpr int notes = 2 * Stages;
  static constexpr bool ordered = Ordered;  // adds to dQ in turn
  // Of a Q tile, whose scores a warpgroup has in registers at a time; while it works on one part
  // the tensor cores have the products of the other.
  static constexpr int part_rows = PartRows;
  static constexpr int parts = QRows / PartRows;
  static_assert(parts * PartRows == QRows && parts <= 2);
  SAWTOOTH_HD static constexpr Tiling tiling() { return {q_rows, kv_rows}; }

  static constexpr int threads = (consumers + 1) * warpgroup_threads;
  static constexpr int consumer_warps = consumers * 4;
  static constexpr int warpgroup_warps = 4;
  // setmaxnreg moves registers between warpgroups inside what the CTA was launched with; asking
  // for more waits for ever.
  static constexpr int launch_registers = 65536 / threads / 8 * 8;
  static constexpr int producer_registers = 40;
  static constexpr int consumer_registers = consumers == 3 ? 160 : 232;
  static_assert(producer_registers + consumers * consumer_registers <=
                (consumers + 1) * launch_registers);

  static constexpr int panels = HeadDim / panel_columns;
  static constexpr int q_tile_elements = QRows * HeadDim;
  static constexpr int kv_tile_elements = KvRows * HeadDim;
  static constexpr int score_elements = QRows * KvRows;
  static constexpr uint32_t q_tile_bytes = q_tile_elements * sizeof(Element);
  static constexpr uint32_t kv_tile_bytes = kv_tile_elements * sizeof(Element);
  static constexpr uint32_t row_number_bytes = QRows * sizeof(float);

  // A warpgroup computes 64 x 64 of dQ: its rows where the Q tile has two blocks of 64, else its
  // columns.
  static constexpr bool splits_dq_rows = QRows == consumers * warpgroup_rows;
  static constexpr int dq_columns = dq_part_columns;
  static_assert(splits_dq_rows ? HeadDim == dq_columns
                               : QRows == warpgroup_rows && HeadDim == consumers * dq_columns);
  static_assert(HeadDim % panel_columns == 0 && KvRows % warpgroup_rows == 0);
};

}  // namespace sawtooth::kernels::hopper
