// Everything that is fixed when a variant is compiled: tiles, warpgroups, stages, registers, and
// how the shared memory is cut. The choices follow FlashAttention-3 (arXiv 2407.08608, section 3).
#pragma once

#include <cstdint>

#include "kernels/hopper/layout.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels::hopper {

/// What overlaps the softmax: nothing, or this warpgroup's own next products and, in turns, those
/// of the other warpgroups.
enum class Overlap : uint8_t { none, ping_pong };

template <class ElementType, int HeadDim, int Consumers, int KvRows, int Stages, Overlap Mode>
struct Shape {
  using Element = ElementType;
  static constexpr int head_dim = HeadDim;
  static constexpr int head_dim_v = HeadDim;   // of V and O
  static constexpr int consumers = Consumers;  // warpgroups that multiply, 64 query rows each
  static constexpr int q_rows = Consumers * warpgroup_rows;
  static constexpr int kv_rows = KvRows;
  static constexpr int stages = Stages;  // of K and of V
  static constexpr Overlap overlap = Mode;
  // At head dim 64 tiles are so short that what stands between items counts.
  static constexpr bool short_items = HeadDim == 64;
  // What a warp reads of an item comes at once, so that no reading waits for another.
  static constexpr bool reads_together = short_items;
  // With two Q tiles the next item's arrives while the last steps of this one still read theirs.
  static constexpr int q_stages = short_items ? 2 : 1;
  static constexpr int q_boxes = 1;              // of a Q tile, each waited for alone
  static constexpr bool q_in_registers = false;  // of the warpgroup whose rows they are
  static constexpr bool packed = false;
  static constexpr bool listed = false;
  SAWTOOTH_HD static constexpr Tiling tiling() { return {q_rows, kv_rows}; }

  static constexpr int ctas_per_sm = 1;
  static constexpr int threads = (Consumers + 1) * warpgroup_threads;
  static constexpr int consumer_warps = Consumers * 4;
  // setmaxnreg moves registers between warpgroups inside what the CTA was launched with; asking
  // for more waits for ever.
  static constexpr int launch_registers = 65536 / threads / 8 * 8;
  static constexpr int producer_registers = Consumers == 3 ? 32 : 40;
  static constexpr int consumer_registers = Consumers == 3 ? 160 : 232;
  static_assert(producer_registers + Consumers * consumer_registers <=
                (Consumers + 1) * launch_registers);

  // A row fills whole panels in shared memory; columns past the head dim arrive as zeros, and no
  // product reads them.
  static constexpr int panels = (HeadDim + panel_columns - 1) / panel_columns;
  static constexpr bool padded = HeadDim % panel_columns != 0;
  static constexpr int q_tile_elements = q_rows * panels * panel_columns;
  static constexpr int kv_tile_elements = KvRows * panels * panel_columns;
  static constexpr uint32_t q_tile_bytes = q_tile_elements * sizeof(Element);
  static constexpr uint32_t kv_tile_bytes = kv_tile_elements * sizeof(Element);
  // Tiles of V are as large as those of K, unless its rows are shorter (NarrowVShape).
  static constexpr int v_tile_elements = kv_tile_elements;
  static constexpr uint32_t v_tile_bytes = kv_tile_bytes;
  static_assert(HeadDim % wgmma_k == 0 && KvRows % wgmma_k == 0);
  static_assert(q_tile_bytes % swizzle_group_bytes == 0 &&
                kv_tile_bytes % swizzle_group_bytes == 0);
};

/// The same shape for packed sequences of different lengths.
template <class Base>
struct PackedShape : Base {
  static constexpr bool packed = true;
};

/// The same shape for masks that are lists of tiles.
template <class Base>
struct ListedShape : Base {
  static constexpr bool listed = true;
};

/// The same shape with rows of V and O of `HeadDimV` columns.
template <class Base, int HeadDimV>
struct NarrowVShape : Base {
  static constexpr int head_dim_v = HeadDimV;
  static constexpr int v_tile_elements = Base::kv_rows * HeadDimV;
  static constexpr uint32_t v_tile_bytes = v_tile_elements * sizeof(typename Base::Element);
  static_assert(!Base::padded && HeadDimV % panel_columns == 0);
};

/// A shape for short sequences, whose items end before what stands between them is hidden: O leaves
/// by the copy engine, the first item needs no ticket, and `CtasPerSm` CTAs share an SM, so that
/// one multiplies while another begins or ends an item.
template <class Base, int CtasPerSm>
struct ShortShape : Base {
  static constexpr bool reads_together = true;
  // With one Q tile at a time each warpgroup has its rows to itself: the next item's come once it
  // is done, whatever the others still read.
  static constexpr int q_boxes = Base::q_stages == 1 ? Base::consumers : 1;
  // Where a warpgroup has the registers, and its steps overlap: without overlap it gains nothing,
  // and nvcc 13.0 lets probabilities overwrite Q (notes.md).
  static constexpr bool q_in_registers =
      CtasPerSm == 1 && Base::overlap != Overlap::none && Base::head_dim <= 160;
  static constexpr int ctas_per_sm = CtasPerSm;
  static constexpr int launch_registers = Base::launch_registers / CtasPerSm / 8 * 8;
  static constexpr int producer_registers = CtasPerSm == 1 ? Base::producer_registers : 32;
  static constexpr int consumer_registers =
      CtasPerSm == 1 ? Base::consumer_registers
                     : ((Base::consumers + 1) * launch_registers - producer_registers) /
                           Base::consumers / 8 * 8;
  // What O needs on its way: a tile, or what is left of shared memory.
  static constexpr int o_panels = Base::panels <= 3 ? Base::panels : 2;
  static constexpr int o_bytes = Base::q_tile_bytes / Base::panels * o_panels;
};

/// Whether a worker's first item is that of its number; the backward pass has no such shape.
template <class Shape>
inline constexpr bool begins_without_ticket = false;
template <class Base, int CtasPerSm>
inline constexpr bool begins_without_ticket<ShortShape<Base, CtasPerSm>> = true;

}  // namespace sawtooth::kernels::hopper
