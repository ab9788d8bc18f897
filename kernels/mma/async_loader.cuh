// Loads with cp.async: all threads copy their share of every tile, in groups that are waited for in
// turn. When K and V of a step are asked for:
//   several stages      `stages` - 1 steps ahead: an item's first tiles before its first step
//   one stage           where they are used: K before Q K^T, V before P V, each waited for at once
//   half a step ahead   (one stage too) when their place is free: K of the next step after Q K^T, V
//                       of this one before it, as in FlashAttention-2's own kernel
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
            arguments_.q_strides.offset(item.batch, item.head, first_row) * Shape::element_bytes,
        arguments_.q_strides.row * Shape::element_bytes,
        int(min_of(arguments_.problem.seq_q - first_row, Shape::q_rows)), arguments_.policies.q);
    if constexpr (Shape::q_in_registers) commit_copies();
    if constexpr (Shape::half_step_ahead)
      copy_step<Tiles::k>(0, steps);
    else
      for (int step = 0; step < Shape::stages - 1; ++step) copy_step(step, steps);
  }

  /// Before Q is read into registers; without them the first step waits for Q too.
  __device__ void wait_for_q(int) {
    if constexpr (Shape::q_in_registers) {
      wait_for_copies<groups_ahead>();
      __syncthreads();
    }
  }

  /// From here on everybody sees what was asked for ahead of this step, and has left the tile of
  /// the step before, whose place the next copy takes. Groups of later steps may be in flight.
  __device__ void enter_step() {
    if constexpr (groups_ahead > 0) wait_for_copies<groups_ahead - 1>();
    __syncthreads();
  }
  /// With one stage, and nothing ahead, everybody sees K behind it.
  __device__ void load_ahead(int step, int steps) {
    if constexpr (Shape::stages > 1) {
      copy_step(step + Shape::stages - 1, steps);
    } else if constexpr (Shape::half_step_ahead) {
      copy_step<Tiles::v>(step, steps);
    } else {
      copy_step<Tiles::k>(step, steps);
      wait_for_all();
    }
  }
  /// Behind Q K^T. With one stage everybody sees V from here on, and has left K.
  __device__ void between_products(int step, int steps) {
    if constexpr (Shape::half_step_ahead) {
      wait_for_all();
      copy_step<Tiles::k>(step + 1, steps);
    } else if constexpr (Shape::stages == 1) {
      copy_step<Tiles::v>(step, steps);
      wait_for_all();
    }
  }

  /// Where the tile of `step` lies in the rings of K and V.
  __device__ int slot(int step) const { return step % Shape::stages; }

  /// No copy may land in Q's place, where O is put together (empty items have one in flight).
  __device__ void finish_steps(int steps) {
    wait_for_copies<0>();
    if (steps == 0) __syncthreads();
  }
  __device__ void finish_item() {}

 private:
  enum class Tiles { k, v, both };
  /// In flight behind Q's, before the first step.
  static constexpr int groups_ahead = Shape::half_step_ahead ? 1 : Shape::stages - 1;

  __device__ static void wait_for_all() {
    wait_for_copies<0>();
    __syncthreads();
  }

  template <Tiles tiles = Tiles::both>
  __device__ void copy_step(int step, int steps) {
    if (step < steps) {
      const WorkItem& work = storage_.work;
      const int tile = storage_.scan.tile(step);
      const int keys = valid_keys(arguments_.problem, Shape::tiling(), tile);
      if constexpr (tiles != Tiles::v)
        copy<typename Shape::KvTile>(shared_address(storage_.k), slot(step), work.k_head,
                                     arguments_.k_strides, tile, keys, arguments_.policies.k);
      if constexpr (tiles != Tiles::k)
        copy<typename Shape::VTile>(shared_address(storage_.v), slot(step), work.v_head,
                                    arguments_.v_strides, tile, keys, arguments_.policies.v);
    }
    commit_copies();  // an empty group too, so that the count of groups stays the same
  }

  template <class Tile>
  __device__ static void copy(uint32_t base, int to, const char* head, const Strides& strides,
                              int tile, int keys, uint64_t policy) {
    const int64_t row_bytes = strides.row * Shape::element_bytes;
    copy_tile<Tile, Shape::threads>(base + to * Tile::bytes,
                                    head + int64_t(tile) * Shape::kv_rows * row_bytes, row_bytes,
                                    keys, policy);
  }

  const ForwardArguments& arguments_;
  Storage& storage_;
};

}  // namespace sawtooth::kernels
