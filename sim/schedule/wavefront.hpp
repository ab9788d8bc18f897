// The wavefront in lockstep: replays a schedule step by step and tells a sink who touches what.
//
// Time is an integer step. In each step every worker that holds an item visits K of its tile (in
// worker order), then every worker V, then the prefetches follow. A worker that has finished
// writes O at once, takes its next item at once (lowest worker first) and loads its Q: these cost
// no step. Under kv_outer a step is one Q tile: it reads Q and the O so far and writes O, and a new
// K/V tile's K and V come before it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "scheduler/prefetch.hpp"
#include "scheduler/schedule.hpp"
#include "sim/request.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"
#include "sim/schedule/worker_cursor.hpp"

namespace sawtooth::sim {

/// A sink derives from this and hides what it needs; there are no virtual calls.
struct WavefrontSink {
  /// What follows belongs to step `step`. What a worker writes and loads between two items counts
  /// to the later step.
  void begin_step(int64_t /*step*/) {}
  /// Worker `worker` touches all lines of `atom`.
  void touch(int64_t /*worker*/, AtomId /*atom*/, Access /*access*/) {}
  /// Worker `worker` computes on Q tile `q_tile` and K/V tile `kv_tile` of `item` in step `step`.
  void at(int64_t /*step*/, int64_t /*worker*/, const Item& /*item*/, int64_t /*q_tile*/,
          int64_t /*kv_tile*/) {}
};

template <class Sink>
class LockstepWavefront {
 public:
  /// `request`, `atoms` and `sink` must outlive the wavefront.
  LockstepWavefront(const Request& request, const AtomTable& atoms, Sink& sink)
      : request_(request),
        problem_(request.problem),
        tiling_(request.tiling),
        schedule_(request.schedule),
        atoms_(atoms),
        sink_(sink),
        items_(item_count(problem_, tiling_, schedule_)),
        workers_(static_cast<size_t>(min_of(schedule_.workers, items_))),
        attach_(static_cast<size_t>(problem_.batch * problem_.kv_heads), 0) {}

  /// Replays the whole schedule, the combine pass of kv-split included.
  void run() {
    start_wave();
    while (busy_ > 0) advance();
    if (schedule_.kv_split > 1) combine();
  }

  int64_t steps() const { return step_; }

 private:
  bool kv_outer() const { return schedule_.loop == Loop::kv_outer; }
  bool wave_waits() const { return request_.timing == Timing::lockstep_wave; }
  int64_t q_head(const Item& item) const { return item.batch * problem_.heads + item.head; }
  int64_t kv_head(const Item& item) const { return item.batch * problem_.kv_heads + item.kv_head; }

  void touch(int64_t worker, Tensor tensor, int64_t head, int64_t tile, Access access) {
    sink_.touch(worker, atoms_.id(tensor, head, tile), access);
  }

  template <class Function>
  void for_busy(Function function) {
    for (size_t w = 0; w < workers_.size(); ++w) {
      if (!workers_[w].done()) function(static_cast<int64_t>(w), workers_[w]);
    }
  }

  // One step of all workers: visits in the order that the head of this file fixes, then moves.
  void advance() {
    if (kv_outer()) {
      visit_kv_outer();
    } else {
      visit_kv_inner();
    }
    sink_.begin_step(++step_);
    for_busy([&](int64_t w, WorkerCursor& worker) {
      worker.advance(problem_, tiling_, schedule_);
      if (!worker.done()) return;
      --busy_;
      write_results(w, worker.item());
      if (!wave_waits()) take_next(w, worker);
    });
    if (wave_waits() && busy_ == 0) start_wave();
  }

  void visit_kv_inner() {
    for_busy([&](int64_t w, WorkerCursor& worker) {
      const Item& item = worker.item();
      sink_.at(step_, w, item, worker.q_tile(), worker.kv_tile());
      attach_[static_cast<size_t>(kv_head(item))] = worker.kv_tile();
      touch(w, Tensor::k, kv_head(item), worker.kv_tile(), Access::read);
    });
    for_busy([&](int64_t w, WorkerCursor& worker) {
      touch(w, Tensor::v, kv_head(worker.item()), worker.kv_tile(), Access::read);
    });
    if (schedule_.prefetch > 0) for_busy([&](int64_t w, WorkerCursor& c) { prefetch(w, c); });
  }

  // The sharers of a wave stand at one tile, so the first of them touches it whole for all.
  void prefetch(int64_t w, const WorkerCursor& worker) {
    const Item& item = worker.item();
    if (prefetch_share(problem_, tiling_, schedule_, item.index).rank != 0) return;
    const int64_t tile = worker.kv_tile_ahead(schedule_, schedule_.prefetch);
    if (tile < 0) return;
    touch(w, Tensor::k, kv_head(item), tile, Access::prefetch);
    touch(w, Tensor::v, kv_head(item), tile, Access::prefetch);
  }

  void visit_kv_outer() {
    for (const Tensor tensor : {Tensor::k, Tensor::v}) {
      for_busy([&](int64_t w, WorkerCursor& worker) {
        if (worker.step() != 0) return;
        touch(w, tensor, kv_head(worker.item()), worker.kv_tile(), Access::read);
      });
    }
    for_busy([&](int64_t w, WorkerCursor& worker) {
      const int64_t head = q_head(worker.item());
      const int64_t tile = worker.q_tile();
      sink_.at(step_, w, worker.item(), tile, worker.kv_tile());
      touch(w, Tensor::q, head, tile, Access::read);
      // The first K/V tile that a Q tile sees finds no O to go on from.
      if (worker.kv_tile() != visible_kv_tiles(problem_, tiling_, tile).begin) {
        touch(w, Tensor::o, head, tile, Access::read);
        if (request_.log_sum_exp) touch(w, Tensor::lse, head, tile, Access::read);
      }
      write_rows(w, head, tile);
    });
  }

  void start_wave() {
    for (size_t w = 0; w < workers_.size(); ++w) take_next(static_cast<int64_t>(w), workers_[w]);
  }

  // Takes items until one has something to do; one that sees nothing writes O and is done.
  void take_next(int64_t w, WorkerCursor& worker) {
    const bool by_stride = strides(schedule_.launch);
    for (;;) {
      const int64_t index = by_stride ? w + worker.items_begun() * schedule_.workers : ticket_++;
      if (index >= items_) return;
      const Item item = item_at(problem_, tiling_, schedule_, index);
      worker.begin(problem_, tiling_, schedule_, item, attach_[static_cast<size_t>(kv_head(item))]);
      if (!worker.done()) break;
      write_results(w, item);
    }
    ++busy_;
    if (!kv_outer()) {
      touch(w, Tensor::q, q_head(worker.item()), worker.item().q_tile, Access::read);
    }
  }

  void write_rows(int64_t w, int64_t head, int64_t q_tile) {
    touch(w, Tensor::o, head, q_tile, Access::write);
    if (request_.log_sum_exp) touch(w, Tensor::lse, head, q_tile, Access::write);
  }

  // What an item writes at its end. Under kv_outer O was written on the way, but for the rows that
  // no K/V tile reached.
  void write_results(int64_t w, const Item& item) {
    if (kv_outer()) {
      const int64_t tiles = q_tiles(problem_, tiling_);
      for (int64_t tile = 0; tile < tiles; ++tile) {
        if (visible_kv_tiles(problem_, tiling_, tile).empty()) write_rows(w, q_head(item), tile);
      }
    } else if (schedule_.kv_split > 1) {
      const int64_t head = q_head(item) * schedule_.kv_split + item.part;
      touch(w, Tensor::partial_o, head, item.q_tile, Access::write);
      touch(w, Tensor::partial_lse, head, item.q_tile, Access::write);
    } else if (is_whole(w, item)) {
      write_rows(w, q_head(item), item.q_tile);
    }
  }

  // Whether O can be written: at once, or when the last piece of the item has come, whose worker
  // then reads them all.
  bool is_whole(int64_t w, const Item& item) {
    const Pieces& pieces = item.pieces;
    if (pieces.count <= 1) return pieces.count == 1;
    touch(w, Tensor::partial_o, pieces.own, 0, Access::write);
    if (++pieces_come_[pieces.first] < pieces.count) return false;
    for (int64_t piece = pieces.first; piece < pieces.first + pieces.count; ++piece) {
      touch(w, Tensor::partial_o, piece, 0, Access::read);
    }
    return true;
  }

  // The combine kernel of kv-split: Q tile after Q tile, dealt to the workers in turn.
  void combine() {
    const int64_t tiles = q_tiles(problem_, tiling_);
    for (int64_t i = 0; i < problem_.batch * problem_.heads * tiles; ++i) {
      const int64_t w = i % static_cast<int64_t>(workers_.size());
      const int64_t head = i / tiles;
      for (int64_t part = 0; part < schedule_.kv_split; ++part) {
        touch(w, Tensor::partial_lse, head * schedule_.kv_split + part, i % tiles, Access::read);
        touch(w, Tensor::partial_o, head * schedule_.kv_split + part, i % tiles, Access::read);
      }
      write_rows(w, head, i % tiles);
    }
  }

  const Request& request_;
  const Problem& problem_;
  const Tiling& tiling_;
  const Schedule& schedule_;
  const AtomTable& atoms_;
  Sink& sink_;
  int64_t items_ = 0;
  std::vector<WorkerCursor> workers_;
  std::vector<int64_t> attach_;             // K/V tile last started, a word a (batch, K/V head)
  std::map<int64_t, int64_t> pieces_come_;  // of the item with this first piece
  int64_t ticket_ = 0;
  int64_t step_ = 0;
  int64_t busy_ = 0;
};

}  // namespace sawtooth::sim
