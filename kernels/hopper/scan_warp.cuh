// The scan: one thread that walks each item's K/V tiles in the order of its scan. It alone knows
// the order; through a short ring it tells the loader which tile comes next, and it asks L2 for
// this worker's part of the tiles that come later (wave prefetch).
#pragma once

#include "kernels/hopper/instructions.cuh"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/ptx.cuh"
#include "kernels/tma/tma.cuh"
#include "scheduler/dq_order.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::kernels::hopper {

/// The warp serves either pass; `Hand` is a HandOver. The tiles of the backward pass are Q tiles,
/// of each head of the group in turn.
template <class Shape, class Hand>
class ScanWarp {
  using Note = typename Hand::Note;
  static constexpr bool forward = Hand::Arguments::pass == Pass::forward;

 public:
  __device__ explicit ScanWarp(Hand& shared) : shared_(shared) {}

  __device__ void run() {
    wait_for_launch_before();
    atomicExch(&shared_.scan_steps, 0u);
    for (shared_.scan_ring = {};; shared_.scan_ring.advance()) {
      shared_.slot_full[shared_.scan_ring.stage].wait(shared_.scan_ring.parity);
      auto& work = shared_.slots[shared_.scan_ring.stage];
      if (work.last) return;
      start_item(work);
      walk(work);
      shared_.slot_empty[shared_.scan_ring.stage].arrive();
    }
  }

 private:
  template <class Slot>
  __device__ void walk(const Slot& work) {
    if constexpr (forward) {
      walk_head(work, 0);
    } else {
      for (int head = 0; head < work.heads; ++head) walk_head(work, head);
    }
  }

  template <class Slot>
  __device__ void walk_head(const Slot& work, int head) {
    for (int step = 0; step < int(work.scan.tiles); ++step) {
      const int entry = entry_at(work, step);
      const int tile = tile_of(entry);
      const uint32_t slot = shared_.scan_steps % step_slots;
      // Producers start with 1.
      shared_.step_empty[slot].wait(shared_.scan_steps / step_slots % 2 ^ 1);
      if constexpr (Hand::listed) {
        shared_.steps[slot] = {tile, is_partial(entry)};
      } else if constexpr (forward) {
        shared_.steps[slot] = {tile, tile < work.unmasked.begin || tile >= work.unmasked.end};
      } else {
        leave_note(shared_.steps[slot], work, head, step, tile);
      }
      shared_.step_full[slot].arrive();
      atomicAdd(&shared_.scan_steps, 1u);
      announce_step(work.item, forward ? step : head * int(work.scan.tiles) + step, tile);
      if constexpr (forward) {
        if (arguments().schedule.prefetch > 0) prefetch_step(work, step);
      }
    }
  }

  template <class Slot>
  __device__ void leave_note(Note& note, const Slot& work, int head, int step, int tile) const {
    const bool masked = tile < work.unmasked.begin || tile >= work.unmasked.end;
    const bool last = head + 1 == work.heads && step + 1 == int(work.scan.tiles);
    note.word = Note::word_of(tile, (masked ? Note::masked : 0) + (last ? Note::last : 0));
    note.flat_head = int(work.item.batch * arguments().problem.heads + work.item.head) + head;
    if (arguments().schedule.dq == Dq::ordered)
      note.turn = unsigned(additions_before(arguments().problem, Shape::tiling(),
                                            arguments().schedule.order, work.item.own_tile, tile));
  }

  /// The tile of a step, or where the mask is lists its entry there.
  __device__ int entry_at(const WorkSlot& work, int step) const {
    const int64_t tile = scanned_tile_at(arguments().schedule, work.item, work.scan, step);
    if constexpr (Hand::listed) return arguments().lists.entries.tiles[tile];
    return int(tile);
  }
  __device__ static int tile_of(int entry) { return Hand::listed ? tile_of_entry(entry) : entry; }

  /// Reads the attach word and writes the trace's record.
  template <class Slot>
  __device__ void start_item(Slot& work) const {
    if (arguments().schedule.scan == scan_id<AttachScan>) {
      work.attach_tile = atomicAdd(attach_word(arguments(), work.item), 0);
      const Range tiles = work.item.scanned;
      int64_t begin_at = work.attach_tile;
      if constexpr (Hand::listed)
        begin_at = arguments().lists.entries.first_from(tiles, entries_of({begin_at, 0}).begin);
      work.scan.attach_position =
          clamp_to(begin_at, tiles.begin, max_of(tiles.begin, tiles.end - 1)) - tiles.begin;
    }
    if (arguments().trace.items == nullptr) return;
    ItemRecord& record = arguments().trace.items[work.item.index];
    record.start_ns = nanoseconds();
    record.worker = cta_number();
    record.items_before = work.scan.items_before;
    record.attach_tile = arguments().schedule.scan == scan_id<AttachScan> ? work.attach_tile : 0;
    if constexpr (forward) {
      record.steps = int(work.scan.tiles);
    } else {
      record.steps = work.steps;
    }
    atomicAdd(&record.times_started, 1u);
  }

  /// Leaves the word that attach reads and the trace's record of a step.
  __device__ void announce_step(const Item& item, int step, int tile) const {
    if (arguments().schedule.scan == scan_id<AttachScan>) {
      atomicExch(attach_word(arguments(), item), tile);
    }
    if (arguments().trace.steps == nullptr) return;
    arguments().trace.steps[item.index * arguments().trace.steps_per_item + step] = {
        .start_ns = nanoseconds(), .kv_tile = tile, .sm = int(sm_number())};
  }

  __device__ void prefetch_step(const WorkSlot& work, int step) const {
    const int ahead = step + int(arguments().schedule.prefetch);
    if (ahead >= int(work.scan.tiles)) return;
    const int tile = tile_of(entry_at(work, ahead));
    prefetch_rows<Shape::head_dim>(arguments().k, arguments().k_strides, work, tile);
    prefetch_rows<Shape::head_dim_v>(arguments().v, arguments().v_strides, work, tile);
  }

  /// This worker's lines of `tile`, counted in K's: one request where rows follow each other
  /// without gaps, else one a line.
  template <int Columns>
  __device__ void prefetch_rows(const void* tensor, const Strides& strides, const WorkSlot& work,
                                int tile) const {
    constexpr int bytes_a_row = Columns * int(sizeof(typename Shape::Element));
    const int first_row = tile * Shape::kv_rows;
    const int rows = min(Shape::kv_rows, int(arguments().problem.seq_kv) - first_row);
    const int begin = int(work.prefetch_lines.begin * Columns / Shape::head_dim * line_bytes);
    const int end = min(int(work.prefetch_lines.end * Columns / Shape::head_dim * line_bytes),
                        rows * bytes_a_row);
    if (strides.row == Columns) {
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

  __device__ const typename Hand::Arguments& arguments() const { return shared_.arguments; }

  Hand& shared_;
};

}  // namespace sawtooth::kernels::hopper
