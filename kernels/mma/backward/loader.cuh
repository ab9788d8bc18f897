// What the loaders of the backward kernels have in common: copies by cp.async of K and V of a tile,
// or of Q, dO and two numbers a row, and how steps wait for them.
#pragma once

#include <cstdint>

#include "kernels/mma/backward/arguments.hpp"
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

/// K and V of a tile of the item's head.
template <class Shape>
__device__ inline void copy_keys(unsigned char* k, unsigned char* v,
                                 const BackwardArguments& arguments, const Item& item,
                                 int64_t tile) {
  const int keys = valid_keys(arguments.problem, Shape::tiling(), tile);
  const int64_t first_key = tile * Shape::kv_rows;
  copy_rows<typename Shape::KvTile, Shape::threads>(k, arguments.k, arguments.k_strides, item.batch,
                                                    item.kv_head, first_key, keys,
                                                    arguments.policies.k);
  copy_rows<typename Shape::KvTile, Shape::threads>(v, arguments.v, arguments.v_strides, item.batch,
                                                    item.kv_head, first_key, keys,
                                                    arguments.policies.v);
}

/// Q, dO and the numbers of a tile's rows from `first_row` on. `head` is a reference like `item`:
/// what lies in shared memory is read again for each copy and holds no registers.
template <class Shape>
__device__ inline void copy_queries(unsigned char* q, unsigned char* d_o, float* lse_log2,
                                    float* row_sums, const BackwardArguments& arguments,
                                    const Item& item, const int64_t& head, int64_t first_row) {
  const int rows = int(min_of(arguments.problem.seq_q - first_row, Shape::q_rows));
  copy_rows<typename Shape::QTile, Shape::threads>(q, arguments.q, arguments.q_strides, item.batch,
                                                   head, first_row, rows, arguments.policies.q);
  copy_rows<typename Shape::QTile, Shape::threads>(d_o, arguments.d_o, arguments.d_o_strides,
                                                   item.batch, head, first_row, rows,
                                                   arguments.policies.q);
  copy_row_numbers<Shape>(lse_log2, row_sums, arguments,
                          item.batch * arguments.problem.heads + head, first_row);
}

/// The steps of a loader that is `Stages` - 1 steps ahead, with one group of copies a step.
template <int Stages>
class CopiedSteps {
 public:
  /// From here on all threads see this step's tiles, and have left the step before.
  __device__ void enter_step() {
    wait_for_copies<Stages - 2>();
    __syncthreads();
  }
  __device__ static int slot(int step) { return step % Stages; }

  /// From here on no copy is in flight, and all threads have left the last step.
  __device__ void finish_steps() {
    wait_for_copies<0>();
    __syncthreads();
  }
};

// Loads of the backward kernel with cp.async: K and V once an item, then Q, dO and two numbers a
// row a step, `stages` - 1 steps ahead.

template <class Shape>
class BackwardLoader : public CopiedSteps<Shape::stages> {
 public:
  using Storage = BackwardStorage<Shape>;

  __device__ BackwardLoader(const BackwardArguments& arguments, Storage& storage)
      : arguments_(arguments), storage_(storage) {}

  /// Starts the copies of K, V and of the first steps. By all threads, once all have left the last
  /// item's tiles.
  __device__ void start_item() {
    const Item& item = storage_.work.item;
    copy_keys<Shape>(storage_.tiles.k, storage_.tiles.v, arguments_, item, item.own_tile);
    for (int step = 0; step < Shape::stages - 1; ++step) copy_step(step);
  }

  __device__ void load_ahead(int step) { copy_step(step + Shape::stages - 1); }

 private:
  __device__ void copy_step(int step) {
    if (step < storage_.work.steps) {
      const Item& item = storage_.work.item;
      const int64_t first_row = int64_t(storage_.scan.tile(step)) * Shape::q_rows;
      const int64_t head = item.head + storage_.steps.head(step);
      const int slot = this->slot(step);
      copy_queries<Shape>(storage_.tiles.q[slot], storage_.tiles.d_o[slot],
                          storage_.tiles.lse_log2[slot], storage_.tiles.row_sums[slot], arguments_,
                          item, head, first_row);
    }
    commit_copies();  // an empty group too, so that the count of groups stays the same
  }

  const BackwardArguments& arguments_;
  Storage& storage_;
};

}  // namespace sawtooth::kernels
