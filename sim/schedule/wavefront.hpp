// The wavefront in lockstep: replays a schedule step by step and tells a sink who touches what.
//
// Time is an integer step. In each step every worker that holds an item visits K of its tile (in
// worker order), then every worker V, then each prefetches its part of K, then its part of V. A
// worker that has finished writes O at once, takes its next item at once (lowest worker first) and
// loads its Q: these cost no step. Under kv_outer a step is one Q tile: it reads Q and the O so far
// and writes O, and a new K/V tile's K and V come before it. In the backward pass a step reads Q,
// log-sum-exp, dO and row sums of a Q tile, each of them by all workers in turn, and then adds to
// dQ; K and V are loaded before an item's first step, and dK and dV are written at its end.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/prefetch.hpp"
#include "sim/schedule/item_walk.hpp"
#include "sim/schedule/limits.hpp"
#include "sim/schedule/roles.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// A sink derives from this and hides what it needs; there are no virtual calls.
struct WavefrontSink {
  /// What follows belongs to step `step`. What a worker writes and loads between two items counts
  /// to the later step.
  void begin_step(int64_t /*step*/) {}
  /// Worker `worker` touches all lines of `atom`.
  void touch(int64_t /*worker*/, AtomId /*atom*/, Access /*access*/) {}
  /// Worker `worker` computes on `pair` of `item` in step `step`.
  void at(int64_t /*step*/, int64_t /*worker*/, const Item& /*item*/, const TilePair& /*pair*/) {}
};

/// One kernel of a wavefront. `Atoms` is LiveAtoms, or has what is called of it here.
template <class Sink, class Atoms>
class LockstepKernel {
 public:
  /// `request`, `atoms` and `sink` must outlive this; its first step is number `step`.
  LockstepKernel(const Request& request, const Roles& roles, Atoms& atoms, Sink& sink, int64_t step)
      : request_(request),
        schedule_(request.schedule),
        atoms_(atoms),
        sink_(sink),
        walk_(request, roles),
        workers_(static_cast<size_t>(walk_.workers())),
        step_(step) {}

  void run() {
    start_wave();
    while (busy_ > 0) advance();
  }

  const ItemWalk& walk() const { return walk_; }
  /// The number of the step after the last.
  int64_t step() const { return step_; }

 private:
  bool kv_outer() const { return schedule_.loop == Loop::kv_outer; }
  bool wave_waits() const { return request_.timing == Timing::lockstep_wave; }

  auto touch_by(int64_t worker) {
    return [this, worker](Tensor tensor, int64_t head, int64_t tile, Access access) {
      touch_all(worker, atoms_.tile(tensor, head, tile), access);
    };
  }

  void touch_all(int64_t worker, const AtomRange& atoms, Access access) {
    const bool parts =
        atoms.end - atoms.begin > 1;  // of pages, past a sequence's end without lines
    for (AtomId atom = atoms.begin; atom < atoms.end; ++atom)
      if (!parts || atoms_.size(atom).lines > 0) sink_.touch(worker, atom, access);
  }

  template <class Function>
  void for_busy(Function function) {
    for (size_t w = 0; w < workers_.size(); ++w)
      if (!workers_[w].done()) function(static_cast<int64_t>(w), workers_[w]);
  }

  // One step of all workers: visits in the order that the head of this file fixes, then moves.
  void advance() {
    request_.throw_if_stopped();
    if (kv_outer())
      visit_kv_outer();
    else
      visit_kv_inner();
    sink_.begin_step(++step_);
    for_busy([&](int64_t w, WorkerCursor& worker) {
      walk_.advance(worker);
      if (!worker.done()) return;
      --busy_;
      write_results(w, worker);
      if (!wave_waits()) take_next(w, worker);
    });
    if (wave_waits() && busy_ == 0) start_wave();
  }

  void visit_kv_inner() {
    for_busy([&](int64_t w, WorkerCursor& worker) {
      sink_.at(step_, w, worker.item(), worker.pair());
      walk_.start_step(worker);
    });
    load_all(walk_.roles().scans, Access::read);
    load_all(walk_.roles().adds, Access::reduce);
    if (schedule_.prefetch == 0) return;
    for (const Tensor tensor : walk_.roles().scans)
      for_busy([&](int64_t w, WorkerCursor& worker) { prefetch(tensor, w, worker); });
  }

  void load_all(std::span<const Tensor> tensors, Access access) {
    for (const Tensor tensor : tensors) {
      for_busy([&](int64_t w, WorkerCursor& worker) {
        walk_.load(worker, tensor, 0, access, touch_by(w));
      });
    }
  }

  void prefetch(Tensor tensor, int64_t w, const WorkerCursor& worker) {
    const Problem& problem = request_.problem;
    const Tiling& tiling = request_.tiling;
    const int64_t row_bytes = tensor == Tensor::v ? problem.v_row_bytes() : problem.k_row_bytes();
    walk_.load(worker, tensor, schedule_.prefetch, Access::prefetch,
               [&](Tensor, int64_t head, int64_t tile, Access access) {
                 const Range lines = prefetch_share(problem, tiling, schedule_, worker.item().index)
                                         .lines_of(prefetch_lines(tiling, row_bytes));
                 touch_all(w, atoms_.part(tensor, head, tile, lines), access);
               });
  }

  void visit_kv_outer() {
    for (const Tensor tensor : walk_.roles().scans)
      for_busy(
          [&](int64_t w, WorkerCursor& worker) { walk_.load_outer(worker, tensor, touch_by(w)); });
    for_busy([&](int64_t w, WorkerCursor& worker) {
      sink_.at(step_, w, worker.item(), worker.pair());
      walk_.step_outer(worker, touch_by(w));
    });
  }

  void write_results(int64_t w, const WorkerCursor& worker) {
    walk_.results(worker.item(), touch_by(w),
                  [this](Tensor q_or_k, int64_t head) { atoms_.ended(q_or_k, head); });
  }

  // A wave of items that all see nothing takes no step, and the next one begins.
  void start_wave() {
    for (bool taken = true; taken && busy_ == 0;) {
      taken = false;
      for (size_t w = 0; w < workers_.size(); ++w)
        taken |= take_next(static_cast<int64_t>(w), workers_[w]);
    }
  }

  // Takes items until one has something to do, or the first where waves wait; one that sees nothing
  // writes O and is done. Returns whether there was an item.
  bool take_next(int64_t w, WorkerCursor& worker) {
    const bool by_stride = strides(schedule_.launch);
    for (;;) {
      if (walk_.has_shares()) {
        const auto item = walk_.next_piece(w, worker.items_begun());
        if (!item) return false;
        walk_.begin(worker, *item, w);
      } else {
        const int64_t index = by_stride ? w + worker.items_begun() * schedule_.workers : ticket_++;
        if (index >= walk_.items()) return false;
        walk_.begin(worker, index);
      }
      if (!worker.done()) break;
      write_results(w, worker);
      if (wave_waits()) return true;
    }
    ++busy_;
    walk_.first_loads(worker, touch_by(w));
    return true;
  }

  const Request& request_;
  const Schedule& schedule_;
  Atoms& atoms_;
  Sink& sink_;
  ItemWalk walk_;
  std::vector<WorkerCursor> workers_;
  int64_t ticket_ = 0;
  int64_t step_;
  int64_t busy_ = 0;
};

template <class Sink, class Atoms = LiveAtoms>
class LockstepWavefront {
 public:
  /// `request`, `atoms` and `sink` must outlive the wavefront. Throws std::invalid_argument for
  /// what the backward pass is not defined for.
  LockstepWavefront(const Request& request, Atoms& atoms, Sink& sink)
      : request_(request), atoms_(atoms), sink_(sink) {
    require_limits(request);
  }

  /// Replays all kernels one behind the other: the combine kernel of kv-split, the kernel of dQ and
  /// the small kernels of the backward pass included.
  void run() {
    const bool backward = request_.problem.pass == Pass::backward;
    const bool around = backward && request_.schedule.small_kernels;
    const auto touch = [&](int64_t w, Tensor tensor, int64_t head, int64_t tile, Access access) {
      sink_.touch(w, atoms_.id(tensor, head, tile), access);
    };
    if (around) row_sum_kernel(request_, request_.schedule.workers, touch);
    Kernel main(request_, roles_of(request_), atoms_, sink_, 0);
    main.run();
    steps_ = main.step();
    if (backward && request_.schedule.dq == Dq::separate) {
      const Request of_dq = dq_kernel_request(request_);
      Kernel kernel(of_dq, dq_kernel_roles(), atoms_, sink_, steps_);
      kernel.run();
      steps_ = kernel.step();
    }
    main.walk().combine(main.walk().workers(), touch);
    if (around) convert_kernel(request_, request_.schedule.workers, touch);
  }

  int64_t steps() const { return steps_; }

 private:
  using Kernel = LockstepKernel<Sink, Atoms>;

  const Request& request_;
  Atoms& atoms_;
  Sink& sink_;
  int64_t steps_ = 0;
};

// Joins touches of one atom in direct succession, by different workers, into one Visit: n workers
// on one tile are one event and n - 1 hits (docs/models/exactness.md, D).

/// `Consumer` has `void visit(const Visit&)`. Call flush() after the last touch.
template <class Consumer>
class MergedVisits : public WavefrontSink {
 public:
  /// With `merge` false every touch is a visit of its own.
  MergedVisits(Consumer& consumer, bool merge) : consumer_(consumer), merge_(merge) {}

  void touch(int64_t /*worker*/, AtomId atom, Access access) {
    if (merge_ && pending_.times > 0 && pending_.atom == atom && pending_.access == access) {
      ++pending_.times;
      return;
    }
    flush();
    pending_ = {atom, access, 1};
  }

  void flush() {
    if (pending_.times > 0) consumer_.visit(pending_);
    pending_.times = 0;
  }

 private:
  Consumer& consumer_;
  bool merge_;
  Visit pending_{0, Access::read, 0};
};

/// Replays `request` in lockstep into `consumer`, a visit after the other; returns its steps.
template <class Atoms, class Consumer>
int64_t replay_lockstep(const Request& request, Atoms& atoms, Consumer& consumer) {
  MergedVisits<Consumer> visits(consumer, request.merge_lockstep);
  LockstepWavefront wavefront(request, atoms, visits);
  wavefront.run();
  visits.flush();
  return wavefront.steps();
}

}  // namespace sawtooth::sim
