// The loader: one thread that walks each item's K/V tiles in the order of its scan and starts the
// copies as soon as stages are free. It alone knows the scan; consumers read a note a tile.
#pragma once

#include "kernels/hopper/shared_storage.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/ptx.cuh"
#include "kernels/tma/tma.cuh"
#include "scheduler/memory_units.hpp"

namespace sawtooth::kernels::hopper {

template <class Shape>
class Loader {
 public:
  __device__ Loader(SharedStorage<Shape>& shared, const CUtensorMap& q_map,
                    const CUtensorMap& k_map, const CUtensorMap& v_map)
      : shared_(shared), q_map_(q_map), k_map_(k_map), v_map_(v_map) {}

  __device__ void run() {
    prefetch_tensor_map(q_map_);
    prefetch_tensor_map(k_map_);
    prefetch_tensor_map(v_map_);
    for (RingPosition<work_slots> ring;; ring.advance()) {
      shared_.slot_full[ring.stage].wait(ring.parity);
      WorkSlot& work = shared_.slots[ring.stage];
      if (work.last) return;
      start_item(work);
      if (work.scan.tiles > 0) load_item(work);
      shared_.slot_empty[ring.stage].arrive();
    }
  }

 private:
  /// K runs one tile ahead of V, as the consumers do.
  __device__ void load_item(const WorkSlot& work) {
    const int steps = int(work.scan.tiles);
    const int distance = int(min_of(arguments().schedule.prefetch, steps));
    int tile = tile_at(work, 0);
    load_k(work, 0, tile);
    load_q(work.item);
    for (int step = 0; step < steps; ++step) {
      const int next = step + 1 < steps ? tile_at(work, step + 1) : tile;
      if (step + 1 < steps) load_k(work, step + 1, next);
      load_v(work.item, tile);
      if (distance > 0 && step + distance < steps) prefetch(work, tile_at(work, step + distance));
      tile = next;
    }
  }

  __device__ int tile_at(const WorkSlot& work, int step) const {
    return int(kv_tile_at(arguments().schedule, work.item, work.scan, step));
  }

  __device__ void load_q(const Item& item) {
    shared_.q_empty.wait(q_parity_);
    q_parity_ ^= 1;
    shared_.q_full.arrive_expecting(Shape::q_tile_bytes);
    load_tile(shared_.q, q_map_, shared_.q_full, int(item.q_tile) * Shape::q_rows, int(item.head),
              int(item.batch), arguments().policies.q);
  }

  __device__ void load_k(const WorkSlot& work, int step, int tile) {
    const int stage = k_.stage;
    shared_.k_empty[stage].wait(k_.parity);
    announce_step(work.item, step, tile);
    shared_.notes[stage] = {tile, tile < work.unmasked.begin || tile >= work.unmasked.end};
    shared_.k_full[stage].arrive_expecting(Shape::kv_tile_bytes);
    load_tile(shared_.k[stage], k_map_, shared_.k_full[stage], tile * Shape::kv_rows,
              int(work.item.kv_head), int(work.item.batch), arguments().policies.k);
    k_.advance();
  }

  __device__ void load_v(const Item& item, int tile) {
    const int stage = v_.stage;
    shared_.v_empty[stage].wait(v_.parity);
    shared_.v_full[stage].arrive_expecting(Shape::kv_tile_bytes);
    load_tile(shared_.v[stage], v_map_, shared_.v_full[stage], tile * Shape::kv_rows,
              int(item.kv_head), int(item.batch), arguments().policies.v);
    v_.advance();
  }

  /// This worker's part of the K and V lines of `tile`.
  __device__ void prefetch(const WorkSlot& work, int tile) const {
    prefetch_rows(arguments().k, arguments().k_strides, work, tile);
    prefetch_rows(arguments().v, arguments().v_strides, work, tile);
  }

  /// One request where rows follow each other without gaps, else one a line.
  __device__ void prefetch_rows(const void* tensor, const Strides& strides, const WorkSlot& work,
                                int tile) const {
    constexpr int bytes_a_row = Shape::head_dim * int(sizeof(typename Shape::Element));
    const int first_row = tile * Shape::kv_rows;
    const int rows = min(Shape::kv_rows, int(arguments().problem.seq_kv) - first_row);
    const int begin = int(work.prefetch_lines.begin * line_bytes);
    const int end = min(int(work.prefetch_lines.end * line_bytes), rows * bytes_a_row);
    if (strides.row == Shape::head_dim) {
      if (begin < end) {
        prefetch_bytes_to_l2(address(tensor, strides, work.item, first_row) + begin,
                             uint32_t(end - begin));
      }
      return;
    }
    for (int byte = begin; byte < end; byte += int(line_bytes)) {
      const int row = first_row + byte / bytes_a_row;
      prefetch_bytes_to_l2(address(tensor, strides, work.item, row) + byte % bytes_a_row,
                           line_bytes);
    }
  }

  __device__ static const char* address(const void* tensor, const Strides& strides,
                                        const Item& item, int row) {
    return static_cast<const char*>(tensor) +
           strides.offset(item.batch, item.kv_head, row) * int64_t(sizeof(typename Shape::Element));
  }

  __device__ int* attach_word(const Item& item) const {
    return arguments().attach_tiles + item.batch * arguments().problem.kv_heads + item.kv_head;
  }

  /// Reads the attach word and writes the trace's record.
  __device__ void start_item(WorkSlot& work) const {
    int attach_tile = 0;
    if (arguments().schedule.scan == scan_id<AttachScan>) {
      attach_tile = atomicAdd(attach_word(work.item), 0);
      const Range tiles = work.item.kv_tiles;
      work.scan.attach_position =
          clamp_to(attach_tile, tiles.begin, max_of(tiles.begin, tiles.end - 1)) - tiles.begin;
    }
    if (arguments().trace.items == nullptr) return;
    ItemRecord& record = arguments().trace.items[work.item.index];
    record.start_ns = nanoseconds();
    record.worker = blockIdx.x;
    record.items_before = work.scan.items_before;
    record.attach_tile = attach_tile;
    record.steps = int(work.scan.tiles);
    atomicAdd(&record.times_started, 1u);
  }

  /// Leaves the word that attach reads and the trace's record of a step.
  __device__ void announce_step(const Item& item, int step, int tile) const {
    if (arguments().schedule.scan == scan_id<AttachScan>) atomicExch(attach_word(item), tile);
    if (arguments().trace.steps == nullptr) return;
    arguments().trace.steps[item.index * arguments().trace.steps_per_item + step] = {
        .start_ns = nanoseconds(), .kv_tile = tile, .sm = int(sm_number())};
  }

  __device__ const ForwardArguments& arguments() const { return shared_.arguments; }

  SharedStorage<Shape>& shared_;
  const CUtensorMap& q_map_;
  const CUtensorMap& k_map_;
  const CUtensorMap& v_map_;
  RingPosition<Shape::stages> k_{0, 1};
  RingPosition<Shape::stages> v_{0, 1};
  uint32_t q_parity_ = 1;
};

}  // namespace sawtooth::kernels::hopper
