// dq = separate: dQ by a kernel of its own, which adds nothing in memory.
//
// A CTA takes Q tiles as items, as forward does, and walks the K/V tiles that they see. It computes
// S and dP again and keeps dQ in registers: three products a step, beside the four of the kernel
// that is left with dK and dV. A warp owns 16 rows, so that dS stays in its registers as A operand.
#pragma once

#include "kernels/mma/backward/float_products.cuh"
#include "kernels/mma/backward/loader.cuh"
#include "kernels/mma/backward/products.cuh"
#include "kernels/mma/launch_storage.cuh"
#include "kernels/mma/mask_range.hpp"
#include "kernels/mma/row_store.cuh"
#include "kernels/mma/tile_products.cuh"

namespace sawtooth::kernels {

/// The tiles of `Shape`, a BackwardShape, with another number of warps.
template <class Shape>
struct DqShape {
  using Element = typename Shape::Element;
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  static constexpr bool is_fp32 = Shape::is_fp32;
  static constexpr int head_dim = Shape::head_dim;
  static constexpr int q_rows = Shape::q_rows;
  static constexpr int kv_rows = Shape::kv_rows;
  static constexpr int stages = Shape::stages;  // of K and V
  static constexpr int warps = q_rows / 16;
  static constexpr int threads = warps * 32;
  static constexpr int ctas_per_sm = Shape::ctas_per_sm;
  static constexpr int score_columns = min_of(is_fp32 ? 32 : 64, kv_rows);  // keys of S at a time
  static_assert(kv_rows % score_columns == 0 && stages >= 2);
  SAWTOOTH_HD static constexpr Tiling tiling() { return Shape::tiling(); }
};

template <class Shape>
struct DqStorage {
  alignas(tile_alignment) unsigned char q[Shape::QTile::bytes];  // later the warps' rows of dQ
  alignas(tile_alignment) unsigned char d_o[Shape::QTile::bytes];
  alignas(tile_alignment) unsigned char k[Shape::stages][Shape::KvTile::bytes];
  alignas(tile_alignment) unsigned char v[Shape::stages][Shape::KvTile::bytes];
  alignas(chunk_bytes) float lse_log2[Shape::q_rows];
  alignas(chunk_bytes) float row_sums[Shape::q_rows];
  ScanTable<Shape::threads> scan;
  ItemState work;
};

/// Loads with cp.async: Q, dO and two numbers a row once an item, then K and V a step, `stages` - 1
/// steps ahead.
template <class Shape>
class DqLoader : public CopiedSteps<Shape::stages> {
 public:
  __device__ DqLoader(const DqArguments& arguments, DqStorage<Shape>& storage)
      : arguments_(arguments), storage_(storage) {}

  /// By all threads, once all have left the last item's tiles.
  __device__ void start_item() {
    const Item& item = storage_.work.item;
    copy_queries<Shape>(storage_.q, storage_.d_o, storage_.lse_log2, storage_.row_sums, arguments_,
                        item, item.head, item.own_tile * Shape::q_rows);
    for (int step = 0; step < Shape::stages - 1; ++step) copy_step(step);
  }

  __device__ void load_ahead(int step) { copy_step(step + Shape::stages - 1); }

 private:
  __device__ void copy_step(int step) {
    if (step < storage_.work.context.tiles) {
      const int slot = this->slot(step);
      copy_keys<Shape>(storage_.k[slot], storage_.v[slot], arguments_, storage_.work.item,
                       storage_.scan.tile(step));
    }
    commit_copies();  // an empty group too, so that the count of groups stays the same
  }

  const DqArguments& arguments_;
  DqStorage<Shape>& storage_;
};

template <class Shape>
using KeyScores = float[1][Shape::score_columns / 8][4];

/// Scores of keys from `first_key` on that their rows do not see become -inf. `lane_row` is the
/// first row of the Q tile that this lane has in accumulators.
template <class Shape>
__device__ inline void hide_unseen(KeyScores<Shape>& scores, const DqArguments& arguments,
                                   const DqStorage<Shape>& storage, int lane_row,
                                   int64_t first_key) {
  const int64_t first_row = storage.work.item.own_tile * Shape::q_rows + lane_row;
  hide_others(scores, [&](int row) {
    return seen_keys(arguments.problem, first_row + row, first_key, Shape::score_columns);
  });
}

/// dS = exp2(S - log-sum-exp) (dP - rowsum(dO * O)) in place of dP.
template <class Shape>
__device__ inline void to_gradients_of_keys(KeyScores<Shape>& gradients,
                                            const KeyScores<Shape>& scores,
                                            const DqStorage<Shape>& storage, int lane_row,
                                            float scale_log2) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float lse = storage.lse_log2[lane_row + half * 8];
    const float sum = storage.row_sums[lane_row + half * 8];
#pragma unroll
    for (int n = 0; n < Shape::score_columns / 8; ++n)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i)
        gradients[0][n][i] =
            exp2_approximate(scores[0][n][i] * scale_log2 - lse) * (gradients[0][n][i] - sum);
  }
}

/// The keys of `slot` that begin at `part` * score_columns: S, P, dP, dS, and dQ += dS K.
template <class Shape>
requires(!Shape::is_fp32) __device__
    inline void add_keys(float (&dq)[1][Shape::head_dim / 8][4], const DqArguments& arguments,
                         const DqStorage<Shape>& storage, int slot, int part, bool masked,
                         int64_t first_key) {
  using Element = typename Shape::Element;
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  constexpr int column_blocks = Shape::score_columns / 16;
  const int thread = thread_number();
  const int lane = thread % 32;
  const int lane_row = thread / 32 * 16 + lane / 4;
  const uint32_t own_rows =
      uint32_t(thread / 32 * 16 * QTile::row_bytes) + uint32_t(QTile::lane_offset_rows_first(lane));
  const auto load_own = [own_rows](const unsigned char* tile) {
    return [base = shared_address(tile) + own_rows](uint32_t(&a)[4], int, int k) {
      load_matrices(a, fragment_address<QTile>(base, 0, k));
    };
  };
  const uint32_t k_tile = shared_address(storage.k[slot]);
  const uint32_t as_columns = uint32_t(KvTile::lane_offset_chunks_first(lane));

  KeyScores<Shape> scores;
  multiply_by_transposed<Element, KvTile, Shape::head_dim>(
      scores, load_own(storage.q), k_tile + as_columns, part * column_blocks);
  if (masked)
    hide_unseen<Shape>(scores, arguments, storage, lane_row,
                       first_key + part * Shape::score_columns);
  KeyScores<Shape> gradients;
  multiply_by_transposed<Element, KvTile, Shape::head_dim>(
      gradients, load_own(storage.d_o), shared_address(storage.v[slot]) + as_columns,
      part * column_blocks);
  to_gradients_of_keys<Shape>(gradients, scores, storage, lane_row, arguments.scale_log2);
  const uint32_t as_rows = k_tile + uint32_t(KvTile::lane_offset_rows_first(lane));
#pragma unroll
  for (int n = 0; n < column_blocks; ++n) {
    uint32_t a[1][4];
    as_operand<Element>(a, gradients, n);
    add_product<Element, KvTile>(dq, a, as_rows, part * column_blocks + n);
  }
}

/// The same of fp32.
template <class Shape>
requires(Shape::is_fp32) __device__
    inline void add_keys(float (&dq)[1][Shape::head_dim / 8][4], const DqArguments& arguments,
                         const DqStorage<Shape>& storage, int slot, int part, bool masked,
                         int64_t first_key) {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  const int thread = thread_number();
  const int lane = thread % 32;
  const int lane_row = thread / 32 * 16 + lane / 4;
  const int own_rows = thread / 32 * 16 * QTile::row_bytes + QTile::row_lane(lane);
  const int part_bytes = part * Shape::score_columns * KvTile::row_bytes;
  const uint32_t keys = shared_address(storage.k[slot]) + part_bytes;
  const uint32_t values = shared_address(storage.v[slot]) + part_bytes;

  KeyScores<Shape> scores;
  multiply_floats_by_transposed<QTile, KvTile, Shape::head_dim>(
      scores, shared_address(storage.q) + own_rows, keys + KvTile::row_lane(lane));
  if (masked)
    hide_unseen<Shape>(scores, arguments, storage, lane_row,
                       first_key + part * Shape::score_columns);
  KeyScores<Shape> gradients;
  multiply_floats_by_transposed_in_parts<QTile, KvTile, Shape::head_dim>(
      gradients, shared_address(storage.d_o) + own_rows, values + KvTile::row_lane(lane));
  to_gradients_of_keys<Shape>(gradients, scores, storage, lane_row, arguments.scale_log2);
  SplitOperand<Shape::score_columns / 8, 1> factor;
  split_operand(factor, gradients);
  add_float_product<KvTile>(dq, factor, keys + KvTile::key_lane(lane));
}

template <class Shape>
__device__ inline void dq_cta(const DqArguments& arguments, DqStorage<Shape>& storage) {
  const Problem& problem = arguments.problem;
  ItemState& work = storage.work;
  DqLoader<Shape> loader(arguments, storage);
  if (threadIdx.x == 0) work.items_before = -1;

  for (;;) {
    if (threadIdx.x == 0 && take_item(arguments, Shape::tiling(), work))
      work.unmasked = unmasked_kv_tiles(problem, Shape::tiling(), work.item.own_tile);
    __syncthreads();
    if (work.next_index >=
        whole_item_count(problem, Shape::tiling(), arguments.schedule, DqArguments::pass))
      return;
    storage.scan.fill(arguments.schedule, work, 0);
    __syncthreads();

    const int steps = int(work.context.tiles);
    loader.start_item();
    float dq[1][Shape::head_dim / 8][4];
    clear(dq);
    for (int step = 0; step < steps; ++step) {
      loader.enter_step();
      if (step % Shape::threads == 0)
        storage.scan.fill(arguments.schedule, work, step + Shape::threads);
      loader.load_ahead(step);
      const int tile = storage.scan.tile(step);
      if (threadIdx.x == 0) announce_step(arguments, work, step, tile);
      const bool masked = tile < work.unmasked.begin || tile >= work.unmasked.end;
      constexpr int parts = Shape::kv_rows / Shape::score_columns;
#pragma unroll(Shape::is_fp32 ? 1 : parts)  // of fp32, two parts spill
      for (int part = 0; part < parts; ++part)
        add_keys<Shape>(dq, arguments, storage, loader.slot(step), part, masked,
                        int64_t(tile) * Shape::kv_rows);
    }
    loader.finish_steps();
    store_warp_rows<typename Shape::QTile, typename Shape::Element>(
        dq, [&](int, int) { return arguments.scale; }, storage.q, arguments.dq,
        arguments.dq_strides, work.item.batch, work.item.head, work.item.own_tile * Shape::q_rows,
        problem.seq_q);
    __syncthreads();
  }
}

/// Threads an SM for which ptxas of CUDA 13.0 spills nothing on Blackwell: three CTAs of 256 at
/// head dim 32 have 80 registers a thread, and spill.
constexpr int dq_threads_on_blackwell = 512;

/// CTAs an SM that registers are limited for.
template <class Shape>
constexpr int dq_ctas_per_sm() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  return min_of(Shape::ctas_per_sm, dq_threads_on_blackwell / Shape::threads);
#else
  return Shape::ctas_per_sm;
#endif
}

template <class Shape>
__global__ __launch_bounds__(Shape::threads, dq_ctas_per_sm<Shape>()) void dq_kernel(
    const __grid_constant__ DqArguments arguments) {
  extern __shared__ unsigned char raw[];
  dq_cta<Shape>(arguments, aligned_storage<DqStorage<Shape>>(raw));
}

}  // namespace sawtooth::kernels
