// What one variant of the kernel is made of: its shape, its shared memory, a warp's registers.
#pragma once

#include <type_traits>

#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/shared_tile.hpp"
#include "kernels/mma/work_item.cuh"

namespace sawtooth::kernels {

/// Where a lane's fragments begin in the tiles of 16-bit elements.
template <class QTile, class KvTile>
struct HalfLanes {
  __device__ static int q(int lane) { return QTile::lane_offset_rows_first(lane); }
  __device__ static int k(int lane) { return KvTile::lane_offset_chunks_first(lane); }
  __device__ static int v(int lane) { return KvTile::lane_offset_rows_first(lane); }
};

/// The shape of one kernel: tiles, how they are cut, how much of an SM it takes.
template <class ElementType_, int HeadDim, int QRows, int KvRows, int Warps, int Stages,
          int ScoreColumns, bool QInRegisters, int CtasPerSm, int HeadDimV = HeadDim>
struct ForwardShape {
  using Element = ElementType_;
  static constexpr int head_dim = HeadDim;
  static constexpr int head_dim_v = HeadDimV;  // of V and O
  static constexpr int q_rows = QRows;
  static constexpr int kv_rows = KvRows;
  static constexpr int warps = Warps;
  static constexpr int threads = Warps * 32;
  static constexpr int stages = Stages;
  static constexpr int score_columns = ScoreColumns;  // of S in registers at a time
  static constexpr bool q_in_registers = QInRegisters;
  static constexpr int ctas_per_sm = CtasPerSm;
  static constexpr int row_blocks = QRows / (16 * Warps);  // of 16 rows, a warp
  static_assert(row_blocks * 16 * Warps == QRows && KvRows % ScoreColumns == 0 && Stages >= 1 &&
                Warps >= 2);
  static_assert(Stages >= 2 || KvRows == ScoreColumns, "K is left behind in one part of a step");
  static constexpr bool half_step_ahead = false;
  static constexpr bool listed = false;

  static constexpr int element_bytes = sizeof(Element);
  static constexpr bool is_fp32 = std::is_same_v<Element, float>;
  using QTile = std::conditional_t<is_fp32, FloatTile<QRows, HeadDim>, SharedTile<QRows, HeadDim>>;
  using KvTile =
      std::conditional_t<is_fp32, FloatTile<KvRows, HeadDim>, SharedTile<KvRows, HeadDim>>;
  using VTile = std::conditional_t<HeadDimV == HeadDim, KvTile, SharedTile<KvRows, HeadDimV>>;
  static_assert(VTile::panel_columns == KvTile::panel_columns && HeadDimV <= HeadDim);
  using Lanes = std::conditional_t<is_fp32, FloatLanes<QTile, KvTile>, HalfLanes<QTile, KvTile>>;
  SAWTOOTH_HD static constexpr Tiling tiling() { return {QRows, KvRows}; }
};

/// A shape of one stage that asks for K and V half a step before their use (async_loader.cuh).
template <class Shape>
struct HalfStepAhead : Shape {
  static_assert(Shape::stages == 1);
  static constexpr bool half_step_ahead = true;
};

/// A shape for masks that are lists of tiles.
template <class Shape>
struct ListedForwardShape : Shape {
  static constexpr bool listed = true;
};

template <class Shape>
struct ForwardStorage {
  alignas(tile_alignment) unsigned char q[Shape::QTile::bytes];  // later the warp's rows of O
  alignas(tile_alignment) unsigned char k[Shape::stages][Shape::KvTile::bytes];
  alignas(tile_alignment) unsigned char v[Shape::stages][Shape::VTile::bytes];
  std::conditional_t<Shape::listed, ListedScanTable<Shape::threads>, ScanTable<Shape::threads>>
      scan;
  WorkItem work;
};

/// The same for packed sequences.
template <class Shape>
struct PackedForwardStorage : ForwardStorage<Shape> {
  ForwardArguments of_sequence;
};

/// What a warp holds in registers while it works on an item.
template <class Shape>
struct WarpState {
  float output[Shape::row_blocks][Shape::head_dim_v / 8][4];
  SoftmaxState<Shape::row_blocks> softmax;
  uint32_t q[Shape::q_in_registers ? Shape::row_blocks : 1]
            [Shape::q_in_registers ? Shape::head_dim / 16 : 1][4];

  __device__ void reset() {
    clear(output);
    softmax.reset();
  }
};

}  // namespace sawtooth::kernels
