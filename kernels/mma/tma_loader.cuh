// Loads by the copy engine (TMA, sm_90 and later): one thread starts the copy of whole tiles, a
// barrier a stage says when they have come. The tiles lie as cp.async would leave them, so that
// ldmatrix reads them the same way; rows beyond the end arrive as zeros.
#pragma once

#include "kernels/mma/forward_shape.cuh"
#include "kernels/tma/tma.cuh"

namespace sawtooth::kernels {

template <class Shape>
struct TmaStorage : ForwardStorage<Shape> {
  Barrier q_full;
  Barrier kv_full[Shape::stages];
};

/// Maps of Q, K and V (kernels/tma/tensor_map.hpp), boxes of a tile's rows.
struct TensorMaps {
  const CUtensorMap& q;
  const CUtensorMap& k;
  const CUtensorMap& v;
};

template <class Shape>
class TmaLoader {
 public:
  static_assert(Shape::stages >= 2);
  using Storage = TmaStorage<Shape>;

  /// By all threads; the barriers are ready after the next __syncthreads.
  __device__ TmaLoader(const ForwardArguments& arguments, Storage& storage, const TensorMaps& maps)
      : arguments_(arguments), storage_(storage), maps_(maps) {
    if (threadIdx.x != 0) return;
    prefetch_tensor_map(maps.q);
    prefetch_tensor_map(maps.k);
    prefetch_tensor_map(maps.v);
    storage.q_full.initialise(1);
    for (Barrier& barrier : storage.kv_full) barrier.initialise(1);
    fence_initialised_barriers();
  }

  __device__ void start_item(int steps) {
    if (threadIdx.x != 0 || steps == 0) return;
    const Item& item = storage_.work.item;
    storage_.q_full.arrive_expecting(Shape::QTile::bytes);
    load_tile(storage_.q, maps_.q, storage_.q_full, int(item.own_tile) * Shape::q_rows,
              int(item.head), int(item.batch), arguments_.policies.q);
    for (int step = 0; step < Shape::stages - 1; ++step) copy_step(step, steps);
  }

  __device__ void wait_for_q(int steps) {
    if (steps > 0) storage_.q_full.wait(q_parity_);
  }

  /// Everybody has left the tile of the step before, whose place the next copy takes.
  __device__ void enter_step() { __syncthreads(); }
  __device__ void load_ahead(int step, int steps) {
    if (threadIdx.x == 0) copy_step(step + Shape::stages - 1, steps);
    storage_.kv_full[slot(step)].wait(uint32_t(first_ + step) / Shape::stages % 2);
  }

  __device__ void between_products(int, int) {}

  __device__ int slot(int step) const { return uint32_t(first_ + step) % Shape::stages; }

  __device__ void finish_steps(int steps) {
    first_ = uint32_t(first_ + steps) % (2 * Shape::stages);
    if (steps > 0) q_parity_ ^= 1;
  }
  /// O went through Q's place with ordinary stores; the next Q comes there by the copy engine.
  __device__ void finish_item() { fence_before_copies(); }

 private:
  __device__ void copy_step(int step, int steps) {
    if (step >= steps) return;
    using KvTile = typename Shape::KvTile;
    const Item& item = storage_.work.item;
    const int to = slot(step);
    const int row = storage_.scan.tile(step) * Shape::kv_rows;
    Barrier& full = storage_.kv_full[to];
    full.arrive_expecting(2 * KvTile::bytes);
    load_tile(storage_.k[to], maps_.k, full, row, int(item.kv_head), int(item.batch),
              arguments_.policies.k);
    load_tile(storage_.v[to], maps_.v, full, row, int(item.kv_head), int(item.batch),
              arguments_.policies.v);
  }

  const ForwardArguments& arguments_;
  Storage& storage_;
  const TensorMaps& maps_;
  uint32_t first_ = 0;  // steps of all items before, modulo two rounds of the ring
  uint32_t q_parity_ = 0;
};

}  // namespace sawtooth::kernels
