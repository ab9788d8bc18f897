// The loader: one thread that walks each item's K/V tiles in the order of its scan and starts the
// copies as soon as stages are free. It alone knows the scan; consumers read a note a tile.
#pragma once

#include "kernels/hopper/arguments.hpp"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/hopper/tma.cuh"
#include "kernels/hopper/visibility.hpp"
#include "scheduler/memory_units.hpp"
#include "scheduler/prefetch.hpp"

namespace sawtooth::kernels::hopper {

template <class Shape>
class Loader {
 public:
  __device__ Loader(const Arguments& arguments, SharedStorage<Shape>& shared,
                    const CUtensorMap& q_map, const CUtensorMap& k_map, const CUtensorMap& v_map)
      : arguments_(arguments), shared_(shared), q_map_(q_map), k_map_(k_map), v_map_(v_map) {}

  __device__ void run() {
    prefetch_tensor_map(q_map_);
    prefetch_tensor_map(k_map_);
    prefetch_tensor_map(v_map_);
    for (uint32_t parity = 0;; parity ^= 1) {
      shared_.slot_full.wait(parity);
      const bool last = shared_.slot.last;
      item_ = shared_.slot.item;
      const int64_t items_before = shared_.slot.items_before;
      shared_.slot_empty.arrive();
      if (last) return;
      if (item_.kv_tiles.empty()) continue;
      load_item(items_before);
    }
  }

 private:
  /// K runs one tile ahead of V, as the consumers do.
  __device__ void load_item(int64_t items_before) {
    int* attach = attach_word();
    const ScanContext context = scan_context(arguments_.schedule, item_, items_before,
                                             attach != nullptr ? atomicAdd(attach, 0) : 0);
    const PrefetchShare share =
        arguments_.schedule.prefetch > 0
            ? prefetch_share(arguments_.problem, Shape::tiling(), arguments_.schedule, item_.index)
            : PrefetchShare{};
    const int64_t steps = context.tiles;
    int32_t tile = tile_at(context, 0);
    load_k(tile, attach);
    load_q();
    for (int64_t step = 0; step < steps; ++step) {
      const int32_t next = step + 1 < steps ? tile_at(context, step + 1) : 0;
      if (step + 1 < steps) load_k(next, attach);
      load_v(tile);
      const int64_t ahead = step + arguments_.schedule.prefetch;
      if (ahead > step && ahead < steps) prefetch(share, tile_at(context, ahead));
      tile = next;
    }
  }

  __device__ int32_t tile_at(const ScanContext& context, int64_t step) const {
    return int32_t(kv_tile_at(arguments_.schedule, item_, context, step));
  }

  __device__ int* attach_word() const {
    if (arguments_.schedule.scan != scan_id<AttachScan>) return nullptr;
    return arguments_.attach_tiles + item_.batch * arguments_.problem.kv_heads + item_.kv_head;
  }

  __device__ void load_q() {
    shared_.q_empty.wait(q_parity_);
    q_parity_ ^= 1;
    shared_.q_full.arrive_expecting(Shape::q_tile_bytes);
    load_tile(shared_.q, q_map_, shared_.q_full, int32_t(item_.q_tile * Shape::q_rows),
              int32_t(item_.head), int32_t(item_.batch), arguments_.q_policy);
  }

  __device__ void load_k(int32_t tile, int* attach) {
    const int stage = k_.stage;
    shared_.k_empty[stage].wait(k_.parity);
    if (attach != nullptr) atomicExch(attach, tile);
    shared_.notes[stage] = {tile,
                            needs_mask(arguments_.problem, Shape::tiling(), item_.q_tile, tile)};
    shared_.k_full[stage].arrive_expecting(Shape::kv_tile_bytes);
    load_tile(shared_.k[stage], k_map_, shared_.k_full[stage], tile * Shape::kv_rows,
              int32_t(item_.kv_head), int32_t(item_.batch), arguments_.kv_policy);
    k_.advance();
  }

  __device__ void load_v(int32_t tile) {
    const int stage = v_.stage;
    shared_.v_empty[stage].wait(v_.parity);
    shared_.v_full[stage].arrive_expecting(Shape::kv_tile_bytes);
    load_tile(shared_.v[stage], v_map_, shared_.v_full[stage], tile * Shape::kv_rows,
              int32_t(item_.kv_head), int32_t(item_.batch), arguments_.kv_policy);
    v_.advance();
  }

  /// This item's part of the K and V lines of `tile`, row by row.
  __device__ void prefetch(const PrefetchShare& share, int32_t tile) const {
    constexpr int64_t row_bytes = Shape::head_dim * sizeof(typename Shape::Element);
    constexpr int64_t lines_a_row = row_bytes / line_bytes;
    const Range rows = tile_rows(tile, Shape::kv_rows, arguments_.problem.seq_kv);
    const Range lines = share.lines_of(rows.size() * lines_a_row);
    for (int64_t line = lines.begin; line < lines.end; ++line) {
      const int64_t row = rows.begin + line / lines_a_row;
      const int64_t byte = line % lines_a_row * line_bytes;
      prefetch_to_l2(address(arguments_.k, arguments_.k_strides, row) + byte, line_bytes);
      prefetch_to_l2(address(arguments_.v, arguments_.v_strides, row) + byte, line_bytes);
    }
  }

  __device__ const char* address(const void* tensor, const TensorStrides& strides,
                                 int64_t row) const {
    return static_cast<const char*>(tensor) + strides.offset(item_.batch, item_.kv_head, row) *
                                                  int64_t(sizeof(typename Shape::Element));
  }

  const Arguments& arguments_;
  SharedStorage<Shape>& shared_;
  const CUtensorMap& q_map_;
  const CUtensorMap& k_map_;
  const CUtensorMap& v_map_;
  Item item_{};
  RingPosition<Shape::stages> k_{0, 1};
  RingPosition<Shape::stages> v_{0, 1};
  uint32_t q_parity_ = 1;
};

}  // namespace sawtooth::kernels::hopper
