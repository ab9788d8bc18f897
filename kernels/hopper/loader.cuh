// The loader: one thread that starts the copies of each item's tiles, in the order in which the
// scan names them, as soon as stages are free.
#pragma once

#include "kernels/hopper/instructions.cuh"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/tma/tma.cuh"

namespace sawtooth::kernels::hopper {

template <class Shape>
class Loader {
 public:
  /// The maps of packed sequences are those of the first one, with which an array begins.
  __device__ Loader(SharedStorage<Shape>& shared, const CUtensorMap& q_map,
                    const CUtensorMap& k_map, const CUtensorMap& v_map)
      : shared_(shared), q_map_(q_map), k_map_(k_map), v_map_(v_map) {}

  __device__ void run() {
    wait_for_launch_before();
    for (RingPosition<work_slots> ring;; ring.advance()) {
      shared_.hand.slot_full[ring.stage].wait(ring.parity);
      const WorkSlot& work = shared_.hand.slots[ring.stage];
      if (work.last) return;
      if (work.scan.tiles > 0) load_item(work);
      shared_.hand.slot_empty[ring.stage].arrive();
    }
  }

 private:
  /// K runs one tile ahead of V, as the consumers do.
  __device__ void load_item(const WorkSlot& work) {
    if constexpr (Shape::packed) acquire_maps(work.item);
    int tile = load_k(work.item, work.scan.tiles > 1);
    load_q(work.item);
    for (int left = int(work.scan.tiles) - 1; left > 0; --left) {
      const int next = load_k(work.item, left > 1);
      load_v(work.item, tile);
      tile = next;
    }
    load_v(work.item, tile);
  }

  __device__ void load_q(const Item& item) {
    const int stage = q_.stage;
    for (int box = 0; box < Shape::q_boxes; ++box) {
      constexpr int rows = Shape::q_rows / Shape::q_boxes;
      shared_.q_empty[stage * Shape::q_boxes + box].wait(q_.parity);
      if (box + 1 == Shape::q_boxes) q_.advance();
      shared_.q_full[stage * Shape::q_boxes + box].arrive_expecting(Shape::q_tile_bytes /
                                                                    Shape::q_boxes);
      load_panels<Shape, rows>(shared_.q[stage] + box * rows * Shape::panels * panel_columns,
                               map_of(q_map_, item), shared_.q_full[stage * Shape::q_boxes + box],
                               int(item.own_tile) * Shape::q_rows + box * rows, int(item.head),
                               batch_of(item), shared_.hand.arguments.policies.q);
    }
  }

  /// Starts the copy of the next K tile of the scan and returns its number. `tells_next`: the step
  /// behind is the item's too, and is worth waiting for.
  __device__ int load_k(const Item& item, bool tells_next) {
    shared_.hand.step_full[step_.stage].wait(step_.parity);
    const TileStep step = shared_.hand.steps[step_.stage];
    shared_.hand.step_empty[step_.stage].arrive();
    step_.advance();
    const int stage = k_.stage;
    shared_.k_empty[stage].wait(k_.parity);
    if (tells_next) shared_.hand.step_full[step_.stage].wait(step_.parity);
    shared_.notes[stage] =
        TileNote{step.kv_tile, step.masked, tells_next && !shared_.hand.steps[step_.stage].masked};
    load_kv<Shape::kv_tile_bytes>(shared_.k[stage], map_of(k_map_, item), shared_.k_full[stage],
                                  item, step.kv_tile, shared_.hand.arguments.policies.k);
    k_.advance();
    return step.kv_tile;
  }

  __device__ void load_v(const Item& item, int tile) {
    const int stage = v_.stage;
    shared_.v_empty[stage].wait(v_.parity);
    load_kv<Shape::v_tile_bytes>(shared_.v[stage], map_of(v_map_, item), shared_.v_full[stage],
                                 item, tile, shared_.hand.arguments.policies.v);
    v_.advance();
  }

  template <uint32_t Bytes>
  __device__ void load_kv(typename Shape::Element* to, const CUtensorMap& map, Barrier& full,
                          const Item& item, int tile, uint64_t policy) {
    full.arrive_expecting(Bytes);
    load_panels<Shape, Shape::kv_rows>(to, map, full, tile * Shape::kv_rows, int(item.kv_head),
                                       batch_of(item), policy);
  }

  /// The map and the batch coordinate there are those of the item's sequence.
  __device__ static const CUtensorMap& map_of(const CUtensorMap& map, const Item& item) {
    if constexpr (Shape::packed) {
      return (&map)[maps_a_sequence * item.batch];
    } else {
      return map;
    }
  }
  __device__ static int batch_of(const Item& item) { return Shape::packed ? 0 : int(item.batch); }

  /// Maps in global memory were written from outside of the copy engine's proxy.
  __device__ void acquire_maps(const Item& item) const {
    for (const CUtensorMap* map : {&q_map_, &k_map_, &v_map_})
      acquire_tensor_map(map_of(*map, item));
  }

  static constexpr int maps_a_sequence = 3;
  SharedStorage<Shape>& shared_;
  const CUtensorMap& q_map_;
  const CUtensorMap& k_map_;
  const CUtensorMap& v_map_;
  RingPosition<Shape::q_stages> q_{0, 1};
  RingPosition<step_slots> step_;
  RingPosition<Shape::stages> k_{0, 1};
  RingPosition<Shape::stages> v_{0, 1};
};

}  // namespace sawtooth::kernels::hopper
