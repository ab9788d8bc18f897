// Loads of the backward kernel with cp.async: K and V once an item, then Q, dO and two numbers a
// row a step, `stages` - 1 steps ahead.
#pragma once

#include "kernels/mma/backward/shape.cuh"
#include "kernels/mma/backward/tile_loads.cuh"

namespace sawtooth::kernels {

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
