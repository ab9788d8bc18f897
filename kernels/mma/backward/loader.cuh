// Loads of the backward kernel with cp.async: K and V once an item, then Q, dO and two numbers a
// row a step, `stages` - 1 steps ahead.
#pragma once

#include "kernels/mma/backward/shape.cuh"
#include "kernels/mma/mask_range.hpp"
#include "kernels/mma/tile_copy.cuh"

namespace sawtooth::kernels {

/// Rows from `first_row` on of a head of `tensor`, the first `rows` of which exist.
template <class Tile, int Threads>
__device__ inline void copy_rows(unsigned char* to, const void* tensor, const Strides& strides,
                                 int64_t batch, int64_t head, int64_t first_row, int rows,
                                 uint64_t policy) {
  copy_tile<Tile, Threads>(shared_address(to),
                           static_cast<const char*>(tensor) +
                               strides.offset(batch, head, first_row) * Tile::element_bytes,
                           strides.row * Tile::element_bytes, rows, policy);
}

/// Log-sum-exp of a Q tile's rows by the first threads, row sums by the next ones.
template <class Shape>
__device__ inline void copy_row_numbers(float* lse_log2, float* row_sums,
                                        const BackwardArguments& arguments, int64_t flat_head,
                                        int64_t first_row) {
  constexpr int floats = chunk_bytes / int(sizeof(float));
  constexpr int chunks = Shape::q_rows / floats;
  static_assert(2 * chunks <= Shape::threads);
  const int thread = thread_number();
  const int64_t at = flat_head * arguments.padded_rows() + first_row;
  if (thread < chunks)
    copy_16_bytes(shared_address(lse_log2 + thread * floats),
                  arguments.lse_log2 + at + thread * floats, arguments.policies.q);
  else if (thread < 2 * chunks)
    copy_16_bytes(shared_address(row_sums + (thread - chunks) * floats),
                  arguments.row_sums + at + (thread - chunks) * floats, arguments.policies.q);
}

template <class Shape>
class BackwardLoader {
 public:
  using Storage = BackwardStorage<Shape>;

  __device__ BackwardLoader(const BackwardArguments& arguments, Storage& storage)
      : arguments_(arguments), storage_(storage) {}

  /// Starts the copies of K, V and of the first steps. By all threads, once all have left the last
  /// item's tiles.
  __device__ void start_item() {
    const Item& item = storage_.work.item;
    const int keys = valid_keys(arguments_.problem, Shape::tiling(), item.own_tile);
    const int64_t first_key = item.own_tile * Shape::kv_rows;
    copy_rows<typename Shape::KvTile, Shape::threads>(
        storage_.tiles.k, arguments_.k, arguments_.k_strides, item.batch, item.kv_head, first_key,
        keys, arguments_.policies.k);
    copy_rows<typename Shape::KvTile, Shape::threads>(
        storage_.tiles.v, arguments_.v, arguments_.v_strides, item.batch, item.kv_head, first_key,
        keys, arguments_.policies.v);
    for (int step = 0; step < Shape::stages - 1; ++step) copy_step(step);
  }

  /// From here on all threads see this step's tiles, and have left the step before.
  __device__ void enter_step() {
    wait_for_copies<Shape::stages - 2>();
    __syncthreads();
  }
  __device__ void load_ahead(int step) { copy_step(step + Shape::stages - 1); }
  __device__ static int slot(int step) { return step % Shape::stages; }

  /// From here on no copy is in flight, and all threads have left the last step.
  __device__ void finish_steps() {
    wait_for_copies<0>();
    __syncthreads();
  }

 private:
  __device__ void copy_step(int step) {
    if (step < storage_.work.steps) {
      const Item& item = storage_.work.item;
      const int64_t first_row = int64_t(storage_.scan.tile(step)) * Shape::q_rows;
      const int rows = int(min_of(arguments_.problem.seq_q - first_row, Shape::q_rows));
      const int64_t head = item.head + storage_.steps.head(step);
      copy_rows<typename Shape::QTile, Shape::threads>(storage_.tiles.q[slot(step)], arguments_.q,
                                                       arguments_.q_strides, item.batch, head,
                                                       first_row, rows, arguments_.policies.q);
      copy_rows<typename Shape::QTile, Shape::threads>(
          storage_.tiles.d_o[slot(step)], arguments_.d_o, arguments_.d_o_strides, item.batch, head,
          first_row, rows, arguments_.policies.q);
      copy_row_numbers<Shape>(storage_.tiles.lse_log2[slot(step)],
                              storage_.tiles.row_sums[slot(step)], arguments_,
                              item.batch * arguments_.problem.heads + head, first_row);
    }
    commit_copies();  // an empty group too, so that the count of groups stays the same
  }

  const BackwardArguments& arguments_;
  Storage& storage_;
};

}  // namespace sawtooth::kernels
