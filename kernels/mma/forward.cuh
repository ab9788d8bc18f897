// Attention forward on mma.sync: one kernel for every schedule.
//
// A CTA takes items from its schedule (kernels/mma/work_item.cuh), and for each of them walks
// the K/V tiles that the scan names. Per tile: S = Q K^T, online softmax, O += P V, all in
// registers; K and V come through a ring of `stages` tiles that a loader fills: cp.async here, the
// copy engine in tma_variant.cuh. A warp owns 16 or 32 rows of the Q tile. The structure is
// FlashAttention-2's (arXiv 2307.08691); 32 rows a warp halve the shared-memory reads of K and V a
// row, which otherwise bound mma.sync on Hopper.
#pragma once

#include "kernels/mma/async_loader.cuh"
#include "kernels/mma/epilogue.cuh"
#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/launch_storage.cuh"
#include "kernels/mma/tile_copy.cuh"
#include "kernels/mma/tile_products.cuh"

namespace sawtooth::kernels {

/// The wave prefetch of a step: warp 0 fetches this worker's lines of K, warp 1 those of V.
template <class Shape>
__device__ inline void prefetch_step(const ForwardArguments& arguments,
                                     const ForwardStorage<Shape>& storage, int step) {
  if (arguments.schedule.prefetch == 0 || thread_number() >= 2 * 32) return;
  const int later = storage.scan.tile_ahead(step);
  if (later == storage.scan.no_tile) return;
  const WorkItem& work = storage.work;
  const bool of_k = thread_number() < 32;
  const int64_t row_bytes =
      (of_k ? arguments.k_strides.row : arguments.v_strides.row) * Shape::element_bytes;
  const auto prefetch = [&]<class Tile>() {
    prefetch_lines<Tile>(
        (of_k ? work.k_head : work.v_head) + int64_t(later) * Shape::kv_rows * row_bytes, row_bytes,
        valid_keys(arguments.problem, Shape::tiling(), later),
        work.first_line * Tile::panels / Shape::KvTile::panels,
        work.end_line * Tile::panels / Shape::KvTile::panels);
  };
  if constexpr (Shape::head_dim_v == Shape::head_dim) {
    prefetch.template operator()<typename Shape::KvTile>();
  } else if (of_k) {
    prefetch.template operator()<typename Shape::KvTile>();
  } else {
    prefetch.template operator()<typename Shape::VTile>();
  }
}

/// The walk over items and K/V tiles. `loader` brings the tiles into `storage`; `items` are
/// WholeItems, PackedItems or ListedItems.
template <class Shape, class Results, class Loader, class Items = WholeItems>
__device__ inline void forward_cta(const ForwardArguments& arguments, const Results& results,
                                   ForwardStorage<Shape>& storage, Loader& loader,
                                   const Items& items = {}) {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  constexpr int threads = Shape::threads;
  const Problem& problem = arguments.problem;
  constexpr int warp_rows = Shape::row_blocks * 16;
  const auto q_lane_address = [&](int thread) {
    return shared_address(storage.q) + Shape::Lanes::q(thread % 32) +
           uint32_t(thread / 32 * (warp_rows * QTile::row_bytes));
  };
  const uint32_t k_base = shared_address(storage.k);
  const uint32_t v_base = shared_address(storage.v);
  WorkItem& work = storage.work;
  if (threadIdx.x == 0) work.items_before = -1;

  for (;;) {
    if (threadIdx.x == 0)
      take_next_item<Shape::element_bytes>(arguments, Shape::tiling(), work, items);
    __syncthreads();
    if (work.next_index >= items.count(arguments, Shape::tiling())) return;
    storage.scan.fill(arguments.schedule, work, 0);
    __syncthreads();

    const int steps = int(work.context.tiles);
    loader.start_item(steps);

    WarpState<Shape> state;
    state.reset();
    loader.wait_for_q(steps);
    if constexpr (Shape::q_in_registers) {
      const uint32_t q_lane = q_lane_address(thread_number());
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
        for (int k = 0; k < Shape::head_dim / 16; ++k)
          load_matrices(state.q[block][k], fragment_address<QTile>(q_lane, block, k));
    }

    for (int step = 0; step < steps; ++step) {
      loader.enter_step();
      if (step % threads == 0) storage.scan.fill(arguments.schedule, work, step + threads);
      loader.load_ahead(step, steps);

      const int tile = storage.scan.tile(step);
      if (threadIdx.x == 0) announce_step(arguments, work, step, tile);
      prefetch_step<Shape>(arguments, storage, step);

      const int slot = loader.slot(step);
      const int thread = thread_number();
      const int lane = thread % 32;
      const uint32_t q_lane = q_lane_address(thread);
      const uint32_t k_lane = k_base + slot * KvTile::bytes + Shape::Lanes::k(lane);
      const uint32_t v_lane = v_base + slot * Shape::VTile::bytes + Shape::Lanes::v(lane);
      [[maybe_unused]] const bool masked = tile < work.unmasked.begin || tile >= work.unmasked.end;
#pragma unroll
      for (int part = 0; part < Shape::kv_rows / Shape::score_columns; ++part) {
        constexpr int blocks = Shape::score_columns / 16;
        float scores[Shape::row_blocks][Shape::score_columns / 8][4];
        multiply_qk<Shape>(scores, state, q_lane, k_lane, part * blocks);
        if constexpr (Shape::listed) {
          if (storage.scan.partial(step)) {
            const int first_row = int(work.item.own_tile) * Shape::q_rows +
                                  thread_number() / 32 * warp_rows + thread_number() % 32 / 4;
            const int first_key =
                storage.scan.tile(step) * Shape::kv_rows + part * Shape::score_columns;
            hide_unseen(scores, first_key,
                        [&](int row) { return items.spans_of(problem, first_row + row); });
          }
        } else if (masked) {
          const int64_t first_row =
              work.item.own_tile * Shape::q_rows + thread / 32 * warp_rows + lane / 4;
          const int64_t first_key = int64_t(tile) * Shape::kv_rows + part * Shape::score_columns;
          hide_others(scores, [&](int row) {
            return seen_keys(problem, first_row + row, first_key, Shape::score_columns);
          });
        }
        loader.between_products(step, steps);
        state.softmax.raise_maximum(scores, state.output, arguments.scale_log2);
        multiply_pv<Shape>(state, scores, v_lane, part * blocks, arguments.scale_log2);
      }
    }
    loader.finish_steps(steps);
    write_results<Shape>(arguments, results, work.item, state, storage.q,
                         work.item.own_tile * Shape::q_rows);
    loader.finish_item();
    __syncthreads();
  }
}

template <class Shape>
__global__ __launch_bounds__(Shape::threads, Shape::ctas_per_sm) void forward_kernel(
    const __grid_constant__ ForwardArguments arguments) {
  extern __shared__ unsigned char raw[];
  auto& storage = aligned_storage<ForwardStorage<Shape>>(raw);
  AsyncLoader<Shape> loader(arguments, storage);
  forward_cta<Shape>(arguments, OwnResults{}, storage, loader);
}

/// The same kernel over packed sequences of different lengths.
template <class Shape>
__global__ __launch_bounds__(Shape::threads, Shape::ctas_per_sm) void forward_packed_kernel(
    const __grid_constant__ PackedArguments arguments) {
  extern __shared__ unsigned char raw[];
  auto& storage = aligned_storage<PackedForwardStorage<Shape>>(raw);
  if (threadIdx.x == 0) storage.of_sequence = arguments;
  __syncthreads();
  AsyncLoader<Shape> loader(storage.of_sequence, storage);
  const PackedItems items{arguments, storage.of_sequence};
  forward_cta<Shape>(storage.of_sequence, OwnResults{}, storage, loader, items);
}

/// The same kernel under a mask that is lists of tiles.
template <class Shape>
__global__ __launch_bounds__(Shape::threads, Shape::ctas_per_sm) void forward_listed_kernel(
    const __grid_constant__ ListedArguments arguments) {
  extern __shared__ unsigned char raw[];
  auto& storage = aligned_storage<ForwardStorage<Shape>>(raw);
  if (threadIdx.x == 0) storage.scan.entries = arguments.lists.entries.tiles;
  AsyncLoader<Shape> loader(arguments, storage);
  forward_cta<Shape>(arguments, OwnResults{}, storage, loader, ListedItems(arguments.lists));
}

/// The same kernel with another end: results are added to those of the calls before.
template <class Shape>
__global__ __launch_bounds__(Shape::threads, Shape::ctas_per_sm) void forward_running_kernel(
    const __grid_constant__ ForwardArguments arguments,
    const __grid_constant__ RunningResults results) {
  extern __shared__ unsigned char raw[];
  auto& storage = aligned_storage<ForwardStorage<Shape>>(raw);
  AsyncLoader<Shape> loader(arguments, storage);
  forward_cta<Shape>(arguments, results, storage, loader);
}

}  // namespace sawtooth::kernels
