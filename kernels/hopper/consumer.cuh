// A consumer warpgroup: the steps of 64 query rows of each item (consumer_item.cuh).
//
// In step n Q K^T of tile n and P V of tile n - 1 are issued together. While P V is in flight the
// warp finds out whether a row's reference has to rise; exponentials follow. With ping-pong the
// warpgroups take turns to issue, so that one multiplies while another exponentiates
// (FlashAttention-3, arXiv 2407.08608, sections 3.1 and 3.2).
#pragma once

#include <type_traits>

#include "kernels/hopper/consumer_item.cuh"
#include "kernels/hopper/epilogue.cuh"
#include "kernels/hopper/listed_rows.cuh"
#include "kernels/hopper/q_fragments.cuh"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/hopper/sight.hpp"
#include "kernels/hopper/slot_reading.cuh"
#include "kernels/hopper/softmax.cuh"
#include "kernels/hopper/wgmma.cuh"
#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels::hopper {

/// `Results` is OwnResults, RunningResults or CopiedResults.
template <class Shape, class Results>
class Consumer : ConsumerItem<Shape, Results> {
  using Item = ConsumerItem<Shape, Results>;
  using Item::arguments_, Item::shared_, Item::warpgroup_, Item::turn_, Item::first_row_;
  using Item::leave, Item::leave_sums, Item::copy_out;
  using Item::work, Item::problem, Item::row;
  using typename Item::Arguments, typename Item::Element, typename Item::Output;
  using Scores = float[accumulators(Shape::kv_rows)];
  using Packed = uint32_t[accumulators(Shape::kv_rows) / 2];
  using Spans = RowSpans<Shape::listed>;
  static constexpr int q_slices = Shape::head_dim / wgmma_k;
  static constexpr bool takes_turns = Shape::overlap == Overlap::ping_pong && Shape::consumers > 1;

 public:
  /// `warpgroup` counts consumers from 0.
  __device__ Consumer(const Arguments& arguments, const Results& results,
                      SharedStorage<Shape>& shared, int warpgroup)
      : Item(arguments, results, shared, warpgroup),
        q_(rows_descriptor(q_rows_address(shared, warpgroup))) {}

  __device__ void run() {
    if (takes_turns && warpgroup_ == 0) named_barrier_arrive(turn_barrier(0), turn_threads);
    for (;; ++turn_) {
      shared_.hand.slot_full[turn_ % work_slots].wait(turn_ / work_slots % 2);
      ItemStart start;
      if (!read_start<Shape::reads_together>(work(), start)) break;
      first_row_ = start.q_tile * Shape::q_rows + warpgroup_ * warpgroup_rows;
      if (first_row_ < problem().seq_q) {
        process(start.steps);
      } else {
        stand_by(start.steps);
      }
      release_by_warp(shared_.hand.slot_empty[turn_ % work_slots]);
    }
    if constexpr (std::is_same_v<Results, CopiedResults>) wait_until_written();
    // The turn that the last warpgroup has passed on is still open.
    if (takes_turns && warpgroup_ == 0) named_barrier_sync(turn_barrier(0), turn_threads);
  }

 private:
  __device__ void process(int steps) {
    Output output;
#pragma unroll
    for (float& value : output) value = 0;
    RowSoftmax softmax;
    if (steps > 0) {
      wait_for_q();
      if constexpr (Shape::q_in_registers) read_q();
      begin_q();
      Scores scores;
      Packed packed;
      if constexpr (Shape::overlap == Overlap::none) {
        for (int step = 0; step < steps; ++step) {
          const TileNote note = wait_for_k();
          const bool last = step + 1 == steps;
          first_scores(scores, output, softmax, note.kv_tile, note.masked, step == 0, last);
          pack_probabilities<Element>(packed, scores);
          finish_output(output, packed);
        }
      } else {
        bool pending = false;  // probabilities whose product with V is still to be added
        bool plain = false;    // the same, and all rows see every key of the tile to come
        for (int step = 0; step < steps; ++step) {
          const bool last = step + 1 == steps;
          shared_.k_full[k_ring_.stage].wait(k_ring_.parity);
          if (!plain) {
            const TileNote note = read(shared_.notes[k_ring_.stage]);
            const Sight seen = note.masked ? sight(note.kv_tile) : Sight::all;
            if (!pending || seen != Sight::all) {
              if (seen == Sight::nothing) {
                if (step > 0) pass_turn();
                skip_tile(output, packed, pending, last);
              } else if (pending) {
                overlapped_step<true>(scores, packed, output, softmax, note.kv_tile, last);
              } else {
                if (step > 0) pass_turn();
                first_scores(scores, output, softmax, note.kv_tile, seen == Sight::some, step == 0,
                             last);
                pack_probabilities<Element>(packed, scores);
              }
              pending = seen != Sight::nothing;
              plain = pending && note.next_is_plain;
              continue;
            }
          }
          plain = overlapped_step<false>(scores, packed, output, softmax, 0, last);
        }
        if (pending) {
          if constexpr (std::is_same_v<Results, CopiedResults>) {
            if (finish_item(output, packed, softmax)) return;
          } else {
            finish_output(output, packed);
          }
        }
      }
    }
    leave(output, softmax);
  }

  /// Scores and probabilities of a tile, with nothing in flight beside.
  __device__ void first_scores(Scores& scores, Output& output, RowSoftmax& softmax, int kv_tile,
                               bool masked, bool first, bool last) {
    Spans spans;
    if (masked) read_spans(spans);
    pin(scores);
    wgmma_fence();
    issue_scores(scores);
    wgmma_wait<0>();
    pin_scores(scores);
    release_k(last);
    if (masked) mask(scores, kv_tile, spans);
    if (first) {
      float rescale[rows_a_thread];
      softmax.template raise<Element>(scores, arguments_.scale_log2, rescale);
    } else if (softmax.rises(scores)) {
      raise(scores, output, softmax);
    }
    softmax.exponentiate(scores, arguments_.scale_log2);
  }

  /// What this warpgroup sees of a tile of which some row of the item does not see every key. Lists
  /// tell warpgroups of an item the same.
  __device__ Sight sight(int kv_tile) const {
    if constexpr (Shape::listed) return Sight::some;
    return Sight(uniform(int(sight_of(problem(), first_row_, warpgroup_rows,
                                      kv_tile * Shape::kv_rows, Shape::kv_rows))));
  }

  /// Leaves a tile that this warpgroup does not see; the tile before it may still wait for its V.
  __device__ void skip_tile(Output& output, Packed& packed, bool pending, bool last) {
    release_k(last);
    if (pending) finish_output(output, packed);
    shared_.v_full[v_ring_.stage].wait(v_ring_.parity);
    release_v();
  }

  /// The last item of a head may have fewer rows than a tile: a warpgroup without any lets the
  /// tiles pass, so that the others have the SM for themselves. Pieces are merged warp by warp, so
  /// it has none to leave.
  __device__ void stand_by(int steps) {
    if (steps > 0) {
      wait_for_q();
      begin_q();
    }
    for (int step = 0; step < steps; ++step) {
      shared_.k_full[k_ring_.stage].wait(k_ring_.parity);
      if (Shape::overlap != Overlap::none && step > 0) pass_turn();
      release_k(step + 1 == steps);
      shared_.v_full[v_ring_.stage].wait(v_ring_.parity);
      release_v();
    }
  }

  /// Every warpgroup has a turn in every step but the first, whether it multiplies or not.
  __device__ void pass_turn() const {
    if constexpr (takes_turns) {
      named_barrier_sync(turn_barrier(warpgroup_), turn_threads);
      named_barrier_arrive(turn_barrier(next_warpgroup()), turn_threads);
    }
  }
  __device__ int next_warpgroup() const {
    return warpgroup_ + 1 == Shape::consumers ? 0 : warpgroup_ + 1;
  }

  /// True: all rows see every key of the tile to come. Asked for without `Masked` alone.
  template <bool Masked>
  __device__ bool overlapped_step(Scores& scores, Packed& packed, Output& output,
                                  RowSoftmax& softmax, int kv_tile, bool last) {
    Spans spans;
    if constexpr (Masked) read_spans(spans);
    if constexpr (takes_turns) named_barrier_sync(turn_barrier(warpgroup_), turn_threads);
    pin(scores);
    pin(output);
    pin(packed);
    wgmma_fence();
    issue_scores(scores);
    shared_.v_full[v_ring_.stage].wait(v_ring_.parity);
    wgmma_fence();
    issue_output(output, packed);
    if constexpr (takes_turns) {
      named_barrier_arrive(turn_barrier(next_warpgroup()), turn_threads);
    }
    const bool next_is_plain = !Masked && read(shared_.notes[k_ring_.stage]).next_is_plain;
    wgmma_wait<1>();
    pin_scores(scores);
    release_k(last);
    if constexpr (Masked) mask(scores, kv_tile, spans);
    // Exponentials come last, beside sums and packing, without a branch between.
    const bool rises = softmax.rises(scores);
    end_output(output, packed);
    if (rises) raise(scores, output, softmax);
    softmax.exponentiate(scores, arguments_.scale_log2);
    pack_probabilities<Element>(packed, scores);
    return next_is_plain;
  }

  __device__ void raise(const Scores& scores, Output& output, RowSoftmax& softmax) const {
    float rescale[rows_a_thread];
    softmax.template raise<Element>(scores, arguments_.scale_log2, rescale);
    rescale_older(output, rescale);
  }

  /// Adds the last probabilities' product, with nothing in flight beside.
  __device__ void finish_output(Output& output, Packed& packed) {
    begin_output(output, packed);
    end_output(output, packed);
  }
  __device__ void begin_output(Output& output, Packed& packed) {
    shared_.v_full[v_ring_.stage].wait(v_ring_.parity);
    pin(output);
    pin(packed);
    wgmma_fence();
    issue_output(output, packed);
  }
  __device__ void end_output(Output& output, Packed& packed) {
    wgmma_wait<0>();
    pin(output);
    pin(packed);
    release_v();
  }

  /// The same at the end of an item; what of its results needs only the sums is done while the
  /// product is in flight. True where O is on its way; else all is still to be left.
  __device__ bool finish_item(Output& output, Packed& packed, const RowSoftmax& softmax) {
    begin_output(output, packed);
    ItemEnd end;
    read_pieces<Shape::reads_together>(work(), end);
    const bool whole = end.pieces == 1 && arguments_.partial_o == nullptr;
    float factor[rows_a_thread];
    if (whole) {
      read_owner<Shape::reads_together>(work(), end);
      leave_sums(softmax, end.batch, end.head, factor);
    }
    end_output(output, packed);
    if (whole) copy_out(output, factor, end.batch, end.head);
    return whole;
  }

  /// With this warpgroup's rows.
  __device__ int q_box() const {
    return q_ring_.stage * Shape::q_boxes + (Shape::q_boxes == 1 ? 0 : warpgroup_);
  }
  __device__ void wait_for_q() {
    shared_.q_full[q_box()].wait(q_ring_.parity);
  }

  /// Q's tile lies there while the item's steps read it, or is left to the next item's rows.
  __device__ void begin_q() {
    if constexpr (Shape::q_in_registers) {
      leave_q();
    } else if constexpr (Shape::q_stages == 1) {
      q_ring_.advance();  // the same stage, so not in the steps
    }
  }
  __device__ void leave_q() {
    release_by_warp(shared_.q_empty[q_box()]);
    if constexpr (Shape::q_stages > 1 || Shape::q_in_registers) q_ring_.advance();
  }
  __device__ static uint32_t q_rows_address(const SharedStorage<Shape>& shared, int warpgroup) {
    return shared_address(shared.q[0]) +
           warpgroup * (Shape::q_boxes == 1 ? warpgroup_rows * swizzle_row_bytes
                                            : int(Shape::q_tile_bytes) / Shape::q_boxes);
  }
  __device__ void read_q() {
    load_q_fragments(q_fragments_,
                     q_rows_address(shared_, warpgroup_) + q_ring_.stage * Shape::q_tile_bytes,
                     Shape::q_rows / Shape::q_boxes * swizzle_row_bytes);
  }

  __device__ TileNote wait_for_k() {
    shared_.k_full[k_ring_.stage].wait(k_ring_.parity);
    return read(shared_.notes[k_ring_.stage]);
  }

  __device__ void issue_scores(Scores& scores) {
    const uint64_t q = Shape::q_stages == 1 ? q_ : advance(q_, q_ring_.stage * Shape::q_tile_bytes);
    const uint64_t k = rows_descriptor(shared_address(shared_.k[k_ring_.stage]));
#pragma unroll
    for (int slice = 0; slice < q_slices; ++slice) {
      if constexpr (Shape::q_in_registers) {
        Wgmma<Element, Shape::kv_rows, BOrder::rows>::from_registers(
            scores, q_fragments_[slice], advance(k, rows_slice_offset(slice, Shape::kv_rows)),
            slice != 0);
      } else {
        Wgmma<Element, Shape::kv_rows, BOrder::rows>::from_shared(
            scores, advance(q, rows_slice_offset(slice, Shape::q_rows / Shape::q_boxes)),
            advance(k, rows_slice_offset(slice, Shape::kv_rows)), slice != 0);
      }
    }
    wgmma_commit();
  }

  /// After the wait for them: until then the product reads Q too.
  __device__ void pin_scores(Scores& scores) {
    pin(scores);
    if constexpr (Shape::q_in_registers) pin(q_fragments_);
  }

  __device__ void issue_output(Output& output, Packed& packed) {
    const uint64_t v = columns_descriptor(shared_address(shared_.v[v_ring_.stage]), Shape::kv_rows);
#pragma unroll
    for (int slice = 0; slice < Shape::kv_rows / wgmma_k; ++slice) {
      Wgmma<Element, Shape::head_dim_v, BOrder::columns>::from_registers(
          output, packed + 4 * slice, advance(v, columns_slice_offset(slice)), true);
    }
    wgmma_commit();
  }

  /// Before the products of a masked step.
  __device__ void read_spans([[maybe_unused]] Spans& spans) const {
    if constexpr (Shape::listed)
      spans.load(arguments_.lists.spans, int(problem().seq_q), int(problem().seq_kv),
                 [&](int half) { return row(half); });
  }

  __device__ void mask(Scores& scores, int kv_tile, [[maybe_unused]] const Spans& spans) const {
    const int first_key = kv_tile * Shape::kv_rows + column_offset(threadIdx.x);
    decltype(auto) of_item = problem();
    uint64_t visible[rows_a_thread];
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      if constexpr (Shape::listed) {
        visible[half] = spans.visible(half, first_key, Shape::kv_rows);
      } else {
        const KeySpan keys = keys_seen(of_item, row(half), first_key);
        visible[half] = accumulators_between(min(max(keys.begin, 0), Shape::kv_rows),
                                             min(max(keys.end, 0), Shape::kv_rows));
      }
    }
    keep_scores(scores, visible);
  }

  __device__ void release_k(bool last_of_item) {
    release_by_warp(shared_.k_empty[k_ring_.stage]);
    k_ring_.advance();
    if (!Shape::q_in_registers && last_of_item) leave_q();
  }
  __device__ void release_v() {
    release_by_warp(shared_.v_empty[v_ring_.stage]);
    v_ring_.advance();
  }

  static constexpr int turn_threads = 2 * warpgroup_threads;
  __device__ static int turn_barrier(int warpgroup) {
    return 1 + warpgroup;
  }

  uint64_t q_;
  uint32_t q_fragments_[q_slices][4];  // with q_in_registers
  RingPosition<Shape::q_stages> q_ring_;
  RingPosition<Shape::stages> k_ring_;
  RingPosition<Shape::stages> v_ring_;
};

}  // namespace sawtooth::kernels::hopper
