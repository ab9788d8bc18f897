// Attention backward on mma.sync: one kernel for every schedule.
//
// A CTA takes items from its schedule (kernels/mma/work_item.cuh): K/V tiles of a (batch, K/V
// head). For each it walks the Q tiles that the scan names, head after head of the group, and keeps
// dK and dV in registers; with the heads of a group in one item these need no additions in memory,
// with kv-split another kernel makes them.
// dQ is added in fp32 in L2, under dq = ordered in the order of
// the items; under dq = separate it is left to dq_kernel.cuh. The structure is FlashAttention-2's
// (arXiv 2307.08691, algorithm 2).
#pragma once

#include "kernels/mma/backward/float_products.cuh"
#include "kernels/mma/backward/loader.cuh"
#include "kernels/mma/backward/paired_products.cuh"
#include "kernels/mma/backward/products.cuh"
#include "kernels/mma/backward/shape.cuh"
#include "kernels/mma/launch_storage.cuh"
#include "kernels/mma/row_store.cuh"

namespace sawtooth::kernels {

/// take_item, and what the backward pass wants to know of it.
__device__ inline void take_next_item(const BackwardArguments& arguments, const Tiling& tiling,
                                      BackwardItem& work) {
  if (!take_item(arguments, tiling, work)) return;
  work.unmasked = unmasked_q_tiles(arguments.problem, tiling, work.item.own_tile);
  work.heads = int(heads_of_item(arguments.problem, arguments.schedule));
  work.steps = int(work.context.tiles) * work.heads;
}

/// dq = ordered, one thread: waits until all items that come before have added to the Q tile of
/// `step`.
template <class Shape>
__device__ inline void await_turn(const BackwardArguments& arguments,
                                  BackwardStorage<Shape>& storage, int step) {
  const Problem& problem = arguments.problem;
  const Item& item = storage.work.item;
  const int64_t flat_head = item.batch * problem.heads + item.head + storage.steps.head(step);
  storage.turn =
      arguments.dq_turns + flat_head * q_tiles(problem, Shape::tiling()) + storage.scan.tile(step);
  while (load_acquire(storage.turn) != storage.steps.turn(step)) {
  }
}

/// The same thread, when all threads have added, fenced and passed a barrier.
template <class Shape>
__device__ inline void end_turn(BackwardStorage<Shape>& storage) {
  store_release(storage.turn, load_acquire(storage.turn) + 1);
}

template <class Shape, bool adds_dq>
__device__ inline void backward_cta(const BackwardArguments& arguments,
                                    BackwardStorage<Shape>& storage) {
  using KvTile = typename Shape::KvTile;
  using Element = typename Shape::Element;
  constexpr int threads = Shape::threads;
  const Problem& problem = arguments.problem;
  const bool ordered = arguments.schedule.dq == Dq::ordered;
  BackwardItem& work = storage.work;
  BackwardLoader<Shape> loader(arguments, storage);
  if (threadIdx.x == 0) work.items_before = -1;

  for (;;) {
    if (threadIdx.x == 0) {
      BackwardArguments anew = arguments;  // what follows from it is not kept in registers
      anew.problem.seq_q = read_anew(anew.problem.seq_q);
      take_next_item(anew, Shape::tiling(), work);
    }
    __syncthreads();
    if (work.next_index >=
        whole_item_count(problem, Shape::tiling(), arguments.schedule, Pass::backward))
      return;
    storage.fill_tables(arguments, 0);
    __syncthreads();

    loader.start_item();
    KeyGradients<Shape> gradients;
    clear(gradients.dk);
    clear(gradients.dv);
    for (int step = 0; step < work.steps; ++step) {
      loader.enter_step();
      if (ordered && step > 0 && threadIdx.x == 0) end_turn(storage);
      if (step % threads == 0) storage.fill_tables(arguments, step + threads);
      loader.load_ahead(step);
      const int tile = storage.scan.tile(step);
      if (threadIdx.x == 0) announce_step(arguments, work, step, tile);

      const int slot = loader.slot(step);
      const bool masked = tile < work.unmasked.begin || tile >= work.unmasked.end;
      if constexpr (Shape::query_groups == 1) {
#pragma unroll 1  // unrolled, two parts spill
        for (int part = 0; part < Shape::q_rows / Shape::score_columns; ++part)
          add_part<Shape, adds_dq>(gradients, arguments, storage, slot, part, masked,
                                   tile * Shape::q_rows);
      } else {
        add_own_queries<Shape>(gradients, arguments, storage, slot, masked, tile * Shape::q_rows);
      }
      if constexpr (adds_dq) {
        if (ordered && threadIdx.x == 0) await_turn(arguments, storage, step);
        __syncthreads();  // dS^T is whole
        if constexpr (Shape::query_groups > 1)
          add_other_queries<Shape>(gradients.dk, storage, offsetof(BackwardTiles<Shape>, q), slot);
        const int64_t flat_head =
            work.item.batch * problem.heads + work.item.head + storage.steps.head(step);
        const int64_t first_row = int64_t(storage.scan.tile(step)) * Shape::q_rows;
        add_dq<Shape>(
            storage,
            arguments.dq_sums + (flat_head * arguments.dq_rows() + first_row) * Shape::head_dim,
            int(min_of(problem.seq_q - first_row, Shape::q_rows)));
        if (ordered) __threadfence();
      }
    }
    loader.finish_steps();
    if (ordered && work.steps > 0 && threadIdx.x == 0) end_turn(storage);
    const int64_t first_key = work.item.own_tile * Shape::kv_rows;
    const int64_t head = arguments.stored_head(work.item.kv_head, work.item.part);
    store_warp_rows<KvTile, Element, Shape::query_groups>(
        gradients.dk, [&](int, int) { return arguments.scale; }, storage.tiles.k, arguments.dk,
        arguments.dk_strides, work.item.batch, head, first_key, problem.seq_kv, thread_number());
    store_warp_rows<KvTile, Element, Shape::query_groups>(
        gradients.dv, [](int, int) { return 1.0f; }, storage.tiles.v, arguments.dv,
        arguments.dv_strides, work.item.batch, head, first_key, problem.seq_kv, thread_number());
    __syncthreads();
  }
}

/// Without `adds_dq` for dq = separate, which leaves dQ to another kernel.
template <class Shape, bool adds_dq = true>
__global__ __launch_bounds__(Shape::threads, Shape::ctas_per_sm) void backward_kernel(
    const __grid_constant__ BackwardArguments arguments) {
  extern __shared__ unsigned char raw[];
  backward_cta<Shape, adds_dq>(arguments, aligned_storage<BackwardStorage<Shape>>(raw));
}

}  // namespace sawtooth::kernels
