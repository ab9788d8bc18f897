// Loads with cp.async: all threads copy their share of every tile, in groups that are waited for in
// turn. An item's first `stages` - 1 tiles are started before its first step, and each step starts
// the one that far ahead.
#pragma once

#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/tile_copy.cuh"

namespace sawtooth::kernels {

template <class Shape>
class AsyncLoader {
 public:
  using Storage = ForwardStorage<Shape>;

  __device__ AsyncLoader(const ForwardArguments& arguments, Storage& storage)
      : arguments_(arguments), storage_(storage) {}

  /// Starts the copies of Q and of the first K/V tiles. By all threads, when the last item's tiles
  /// are no longer read.
  __device__ void start_item(int steps) {
    const Item& item = storage_.work.item;
    const int64_t first_row = item.own_tile * Shape::q_rows;
    copy_tile<typename Shape::QTile, Shape::threads>(
        shared_address(storage_.q),
        static_cast<const char*>(arguments_.q) +
            arguments_.q_strides.offset(item.batch, item.head, first_row) * element_size,
        arguments_.q_strides.row * element_size,
        int(min_of(arguments_.problem.seq_q - first_row, Shape::q_rows)), arguments_.policies.q);
    if constexpr (Shape::q_in_registers) commit_copies();
    for (int step = 0; step < Shape::stages - 1; ++step) copy_step(step, steps);
  }

  /// Before Q is read into registers; without them the first step waits for Q too.
  __device__ void wait_for_q(int) {
    if constexpr (Shape::q_in_registers) {
      wait_for_copies<Shape::stages - 1>();
      __syncthreads();
    }
  }

  /// From here on everybody sees this step's tile, and has left the one before, whose place the
  /// next copy takes. Groups of later steps may be in flight.
  __device__ void enter_step() {
    wait_for_copies<Shape::stages - 2>();
    __syncthreads();
  }
  __device__ void load_ahead(int step, int steps) { copy_step(step + Shape::stages - 1, steps); }

  /// Where the tile of `step` lies in the rings of K and V.
  __device__ int slot(int step) const { return step % Shape::stages; }

  /// No copy may land in Q's place, where O is put together (empty items have one in flight).
  __device__ void finish_steps(int steps) {
    wait_for_copies<0>();
    if (steps == 0) __syncthreads();
  }
  __device__ void finish_item() {}

 private:
  __device__ void copy_step(int step, int steps) {
    if (step < steps) {
      const WorkItem& work = storage_.work;
      const int tile = storage_.scan.tile(step);
      const int keys = valid_keys(arguments_.problem, Shape::tiling(), tile);
      copy(shared_address(storage_.k), slot(step), work.k_head, arguments_.k_strides, tile, keys,
           arguments_.policies.k);
      copy(shared_address(storage_.v), slot(step), work.v_head, arguments_.v_strides, tile, keys,
           arguments_.policies.v);
    }
    commit_copies();  // an empty group too, so that the count of groups stays the same
  }

  __device__ static void copy(uint32_t base, int to, const char* head, const Strides& strides,
                              int tile, int keys, uint64_t policy) {
    using KvTile = typename Shape::KvTile;
    const int64_t row_bytes = strides.row * element_size;
    copy_tile<KvTile, Shape::threads>(base + to * KvTile::bytes,
                                      head + int64_t(tile) * Shape::kv_rows * row_bytes, row_bytes,
                                      keys, policy);
  }

  const ForwardArguments& arguments_;
  Storage& storage_;
};

}  // namespace sawtooth::kernels
