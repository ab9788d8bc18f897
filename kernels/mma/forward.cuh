// Attention forward on mma.sync: one kernel for every schedule.
//
// A CTA takes items from its schedule (kernels/mma/work_item.cuh), and for each of them walks
// the K/V tiles that the scan names. Per tile: S = Q K^T, online softmax, O += P V, all in
// registers; K and V come through a ring of `stages` tiles filled by cp.async. A warp owns 16 or 32
// rows of the Q tile. The structure is FlashAttention-2's (arXiv 2307.08691); 32 rows a warp
// halve the shared-memory reads of K and V a row, which otherwise bound mma.sync on Hopper.
#pragma once

#include "kernels/mma/arguments.hpp"
#include "kernels/mma/epilogue.cuh"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"
#include "kernels/mma/shared_tile.hpp"
#include "kernels/mma/tile_copy.cuh"
#include "kernels/mma/work_item.cuh"

namespace sawtooth::kernels {

/// The shape of one kernel: tiles, how they are cut, how much of an SM it takes.
template <class ElementType_, int HeadDim, int QRows, int KvRows, int Warps, int Stages,
          int ScoreColumns, bool QInRegisters, int CtasPerSm>
struct ForwardShape {
  using Element = ElementType_;
  static constexpr int head_dim = HeadDim;
  static constexpr int q_rows = QRows;
  static constexpr int kv_rows = KvRows;
  static constexpr int warps = Warps;
  static constexpr int threads = Warps * 32;
  static constexpr int stages = Stages;
  static constexpr int score_columns = ScoreColumns;  // of S in registers at a time
  static constexpr bool q_in_registers = QInRegisters;
  static constexpr int ctas_per_sm = CtasPerSm;
  static constexpr int row_blocks = QRows / (16 * Warps);  // of 16 rows, a warp
  static_assert(row_blocks * 16 * Warps == QRows && KvRows % ScoreColumns == 0 && Stages >= 2 &&
                Warps >= 2);

  using QTile = SharedTile<QRows, HeadDim>;
  using KvTile = SharedTile<KvRows, HeadDim>;
  SAWTOOTH_HD static constexpr Tiling tiling() { return {QRows, KvRows}; }
};

template <class Shape>
struct ForwardStorage {
  alignas(tile_alignment) unsigned char q[Shape::QTile::bytes];  // later the warp's rows of O
  alignas(tile_alignment) unsigned char k[Shape::stages][Shape::KvTile::bytes];
  alignas(tile_alignment) unsigned char v[Shape::stages][Shape::KvTile::bytes];
  ScanTable<Shape::threads> scan;
  WorkItem work;
};

/// What a warp holds in registers while it works on an item.
template <class Shape>
struct WarpState {
  float output[Shape::row_blocks][Shape::head_dim / 8][4];
  SoftmaxState<Shape::row_blocks> softmax;
  uint32_t q[Shape::q_in_registers ? Shape::row_blocks : 1]
            [Shape::q_in_registers ? Shape::head_dim / 16 : 1][4];

  __device__ void reset() {
#pragma unroll
    for (auto& block : output)
#pragma unroll
      for (auto& fragment : block)
#pragma unroll
        for (float& value : fragment) value = 0;
    softmax.reset();
  }
};

/// Address of the fragment of rows [16 r, 16 r + 16) at column block k, from a lane's base.
template <class Tile>
__device__ inline uint32_t fragment_address(uint32_t lane_base, int row_block, int k) {
  return (lane_base ^ Tile::column_block_xor(k)) +
         uint32_t(Tile::column_block_shift(k) + row_block * 16 * Tile::row_bytes);
}

/// S = Q K^T for `score_columns` keys from row block `first_block` of the K tile on.
template <class Shape>
__device__ inline void multiply_qk(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                                   const WarpState<Shape>& state, uint32_t q_lane, uint32_t k_lane,
                                   int first_block) {
  using Core = TensorCore<typename Shape::Element>;
#pragma unroll
  for (auto& block : scores)
#pragma unroll
    for (auto& fragment : block)
#pragma unroll
      for (float& value : fragment) value = 0;
#pragma unroll
  for (int k = 0; k < Shape::head_dim / 16; ++k) {
    uint32_t q[Shape::row_blocks][4];
#pragma unroll
    for (int block = 0; block < Shape::row_blocks; ++block) {
      if constexpr (Shape::q_in_registers) {
#pragma unroll
        for (int i = 0; i < 4; ++i) q[block][i] = state.q[block][k][i];
      } else {
        load_matrices(q[block], fragment_address<typename Shape::QTile>(q_lane, block, k));
      }
    }
#pragma unroll
    for (int n = 0; n < Shape::score_columns / 16; ++n) {
      uint32_t b[4];
      load_matrices(b, fragment_address<typename Shape::KvTile>(k_lane, first_block + n, k));
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block) {
        Core::multiply_add(scores[block][2 * n], q[block], b[0], b[1]);
        Core::multiply_add(scores[block][2 * n + 1], q[block], b[2], b[3]);
      }
    }
  }
}

/// Scores of pairs that the mask hides become -inf. `first_row` is the lane's first row of the
/// warp's first block, `first_key` the key of column 0.
template <class Shape>
__device__ inline void hide_masked(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                                   const Problem& problem, int64_t first_row, int64_t first_key) {
  const int lane_column = thread_number() % 4 * 2;
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Range seen =
          seen_keys(problem, first_row + block * 16 + half * 8, first_key, Shape::score_columns);
      const int begin = int(seen.begin) - lane_column;
      const int end = int(seen.end) - lane_column;
#pragma unroll
      for (int n = 0; n < Shape::score_columns / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int column = n * 8 + i;
          if (column < begin || column >= end) scores[block][n][2 * half + i] = minus_infinity;
        }
    }
}

/// O += exp2(S - reference) V; the probabilities are rounded to the element type.
template <class Shape>
__device__ inline void multiply_pv(
    WarpState<Shape>& state, const float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
    uint32_t v_lane, int first_block, float scale_log2) {
  using Core = TensorCore<typename Shape::Element>;
  float reference[Shape::row_blocks][2];
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      reference[block][half] = state.softmax.reference(block, half, scale_log2);
#pragma unroll
  for (int n = 0; n < Shape::score_columns / 16; ++n) {
    // Two accumulator fragments of 8 columns are one A fragment of 16.
    uint32_t p[Shape::row_blocks][4];
#pragma unroll
    for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        const int half = pair % 2;
        const float* from = &scores[block][2 * n + pair / 2][2 * half];
        const float low = exp2_approximate(from[0] * scale_log2 - reference[block][half]);
        const float high = exp2_approximate(from[1] * scale_log2 - reference[block][half]);
        state.softmax.sum[block][half] += low + high;
        p[block][pair] = Core::pack(low, high);
      }
#pragma unroll
    for (int d = 0; d < Shape::head_dim / 16; ++d) {
      uint32_t b[4];
      load_matrices_transposed(
          b, fragment_address<typename Shape::KvTile>(v_lane, first_block + n, d));
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block) {
        Core::multiply_add(state.output[block][2 * d], p[block], b[0], b[1]);
        Core::multiply_add(state.output[block][2 * d + 1], p[block], b[2], b[3]);
      }
    }
  }
}

template <class Shape>
__device__ inline void forward_cta(const ForwardArguments& arguments,
                                   ForwardStorage<Shape>& storage) {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  constexpr int threads = Shape::threads;
  const Problem& problem = arguments.problem;
  constexpr int warp_rows = Shape::row_blocks * 16;
  const auto q_lane_address = [&](int thread) {
    return shared_address(storage.q) + QTile::lane_offset_rows_first(thread % 32) +
           uint32_t(thread / 32 * (warp_rows * QTile::row_bytes));
  };
  const uint32_t k_base = shared_address(storage.k);
  const uint32_t v_base = shared_address(storage.v);
  const int64_t k_stride = arguments.k_strides.row * element_size;
  const int64_t v_stride = arguments.v_strides.row * element_size;
  WorkItem& work = storage.work;
  if (threadIdx.x == 0) work.items_before = -1;

  for (;;) {
    if (threadIdx.x == 0) take_next_item(arguments, Shape::tiling(), work);
    __syncthreads();
    if (work.next_index >= item_count(problem, Shape::tiling(), arguments.schedule)) return;
    storage.scan.fill(arguments.schedule, work, 0);
    __syncthreads();

    const Item& item = work.item;
    const int steps = int(work.context.tiles);
    const int64_t first_row = item.q_tile * Shape::q_rows;
    const auto valid_keys = [&](int tile) {
      return int(min_of(problem.seq_kv - int64_t(tile) * Shape::kv_rows, Shape::kv_rows));
    };
    const auto copy_step = [&](int step) {
      if (step < steps) {
        const int tile = storage.scan.tile(step);
        const int slot = step % Shape::stages;
        copy_tile<KvTile, threads>(k_base + slot * KvTile::bytes,
                                   work.k_head + int64_t(tile) * Shape::kv_rows * k_stride,
                                   k_stride, valid_keys(tile), arguments.policies.k);
        copy_tile<KvTile, threads>(v_base + slot * KvTile::bytes,
                                   work.v_head + int64_t(tile) * Shape::kv_rows * v_stride,
                                   v_stride, valid_keys(tile), arguments.policies.v);
      }
      commit_copies();  // an empty group too, so that the count of groups stays the same
    };

    copy_tile<QTile, threads>(
        shared_address(storage.q),
        static_cast<const char*>(arguments.q) +
            arguments.q_strides.offset(item.batch, item.head, first_row) * element_size,
        arguments.q_strides.row * element_size,
        int(min_of(problem.seq_q - first_row, Shape::q_rows)), arguments.policies.q);
    if constexpr (Shape::q_in_registers) commit_copies();
    for (int step = 0; step < Shape::stages - 1; ++step) copy_step(step);

    WarpState<Shape> state;
    state.reset();
    if constexpr (Shape::q_in_registers) {
      wait_for_copies<Shape::stages - 1>();
      __syncthreads();
      const uint32_t q_lane = q_lane_address(thread_number());
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
        for (int k = 0; k < Shape::head_dim / 16; ++k)
          load_matrices(state.q[block][k], fragment_address<QTile>(q_lane, block, k));
    }

    for (int step = 0; step < steps; ++step) {
      // Groups of later steps may be in flight; then everybody sees this step's tile, and has
      // left the one before, whose place the next copy takes.
      wait_for_copies<Shape::stages - 2>();
      __syncthreads();
      if (step % threads == 0) storage.scan.fill(arguments.schedule, work, step + threads);
      copy_step(step + Shape::stages - 1);

      const int tile = storage.scan.tile(step);
      if (threadIdx.x == 0) announce_step(arguments, work, step, tile);
      // Warp 0 prefetches lines of K, warp 1 of V.
      if (arguments.schedule.prefetch > 0 && thread_number() < 2 * 32) {
        const int later = storage.scan.tile_ahead(step);
        if (later != storage.scan.no_tile) {
          const bool of_k = thread_number() < 32;
          const int64_t stride = of_k ? k_stride : v_stride;
          prefetch_lines<KvTile>(
              (of_k ? work.k_head : work.v_head) + int64_t(later) * Shape::kv_rows * stride, stride,
              valid_keys(later), work.first_line, work.end_line);
        }
      }

      const int slot = step % Shape::stages;
      const int thread = thread_number();
      const int lane = thread % 32;
      const uint32_t q_lane = q_lane_address(thread);
      const uint32_t k_lane =
          k_base + slot * KvTile::bytes + KvTile::lane_offset_chunks_first(lane);
      const uint32_t v_lane = v_base + slot * KvTile::bytes + KvTile::lane_offset_rows_first(lane);
      const bool masked = tile < work.unmasked.begin || tile >= work.unmasked.end;
#pragma unroll
      for (int part = 0; part < Shape::kv_rows / Shape::score_columns; ++part) {
        constexpr int blocks = Shape::score_columns / 16;
        float scores[Shape::row_blocks][Shape::score_columns / 8][4];
        multiply_qk<Shape>(scores, state, q_lane, k_lane, part * blocks);
        if (masked)
          hide_masked<Shape>(scores, problem,
                             item.q_tile * Shape::q_rows + thread / 32 * warp_rows + lane / 4,
                             int64_t(tile) * Shape::kv_rows + part * Shape::score_columns);
        state.softmax.raise_maximum(scores, state.output, arguments.scale_log2);
        multiply_pv<Shape>(state, scores, v_lane, part * blocks, arguments.scale_log2);
      }
    }
    // No copy may land in Q's place, where O is put together (empty items have one in flight).
    wait_for_copies<0>();
    if (steps == 0) __syncthreads();
    write_results<Shape>(arguments, item, state, storage.q, first_row);
    __syncthreads();
  }
}

template <class Shape>
__global__ __launch_bounds__(Shape::threads, Shape::ctas_per_sm) void forward_kernel(
    const __grid_constant__ ForwardArguments arguments) {
  extern __shared__ unsigned char raw[];
  // The runtime aligns dynamic shared memory to 16 bytes only; the launch asks for the slack.
  const uint32_t address = shared_address(raw);
  unsigned char* aligned = raw + (tile_alignment - address % tile_alignment) % tile_alignment;
  forward_cta<Shape>(arguments, *reinterpret_cast<ForwardStorage<Shape>*>(aligned));
}

/// Dynamic shared memory of a CTA.
template <class Shape>
constexpr int forward_shared_bytes() {
  return int(sizeof(ForwardStorage<Shape>)) + tile_alignment;
}

}  // namespace sawtooth::kernels
