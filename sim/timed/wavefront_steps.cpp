// What a worker of the timed wavefront asks for, waits for and computes in its steps.
#include <algorithm>

#include "scheduler/prefetch.hpp"
#include "sim/timed/chance.hpp"
#include "sim/timed/wavefront.hpp"

namespace sawtooth::sim {

// What was asked for before an item's first step, had it had steps before.
void TimedWavefront::load_first(Worker& worker, double now_ns) {
  if (!points_) {
    const int64_t stages = parameters_.step.stages;
    for (int64_t ahead = 0; ahead < std::max<int64_t>(1, stages - 1); ++ahead)
      load_step(worker, now_ns, ahead);
    return;
  }
  worker.point = 0;
  for (size_t tensor = 0; tensor < walk_.roles().scans.size(); ++tensor)
    for (int64_t ahead = 0; ahead < points_->ask(tensor).ahead; ++ahead)
      load_tile(worker, now_ns, tensor, ahead);
}

// All that a step reads is there when the last of it is; what comes from a DRAM under load is late
// at random. Past the item's end there is nothing to load.
void TimedWavefront::load_step(Worker& worker, double now_ns, int64_t ahead) {
  ReadTime last;
  bool from_dram = false;
  for (const Tensor tensor : step_loads_)
    walk_.load(worker.cursor, tensor, ahead, Access::read,
               [&](Tensor of, int64_t head, int64_t tile, Access) {
                 const ReadTime read = memory_.read(now_ns, worker.cta.sm, atom(of, head, tile));
                 from_dram |= read.from_dram;
                 if (read.arrival_ns > last.arrival_ns) last = read;
               });
  if (from_dram && parameters_.step.dram_late_ns > 0) {
    const double late_ns =
        parameters_.step.dram_late_ns * memory_.dram_load() * waiting_time(worker.cta.random);
    last.arrival_ns += late_ns;
    last.dram_ns += late_ns;
  }
  worker.loads[static_cast<size_t>((worker.cursor.step() + ahead) % max_stages)] = last;
}

void TimedWavefront::load_tile(Worker& worker, double now_ns, size_t tensor, int64_t ahead) {
  const auto slot = static_cast<size_t>((worker.cursor.step() + ahead) % max_stages);
  walk_.load(worker.cursor, roles::k_v[tensor], ahead, Access::read,
             [&](Tensor of, int64_t head, int64_t tile, Access) {
               (tensor == 0 ? worker.loads : worker.v_loads)[slot] =
                   memory_.read(now_ns, worker.cta.sm, atom(of, head, tile));
             });
}

// What the step takes, from its beginning on.
double TimedWavefront::begin_computing(Worker& worker, double now_ns) {
  TimeTerms& terms = terms_of(worker);
  if (worker.cta.has_lines) prefetch(worker, now_ns);
  const double taken_ns = step_times_.step_ns(worker.cta, now_ns, memory_.read_bytes_a_ns());
  terms[TimeTerm::tensor] += cost_.tensor_ns;
  terms[TimeTerm::exp] += cost_.exp_ns;
  terms[TimeTerm::exposed] += cost_.fixed_ns + cost_.exposed_ns;
  terms[TimeTerm::sharing] += taken_ns - cost_.alone_ns();
  return taken_ns;
}

// One point of a step of a kernel with leads: it waits for what it uses, asks for what its leads
// say, and computes up to the next point. Only a tile without lead is asked for before the wait.
void TimedWavefront::go_on(Worker& worker, double now_ns) {
  const StepPoints& points = *points_;
  const StepPoints::Point& point = points[worker.point];
  if (!worker.waited && must_wait(worker, now_ns)) return;
  worker.waited = false;
  if (worker.point == 0) {
    tile_visits_ += std::ssize(walk_.roles().scans);
    walk_.start_step(worker.cursor);
  }
  for (size_t tensor = 0; tensor < walk_.roles().scans.size(); ++tensor)
    if (point.asks[tensor] && !points.asks_at_use(tensor))
      load_tile(worker, now_ns, tensor, points.ask(tensor).ahead);
  if (worker.point == 0) worker.step_ns = begin_computing(worker, now_ns);
  const double until_ns = now_ns + points.length(worker.point) * worker.step_ns;
  if (++worker.point < points.count()) {
    next_event(worker, Next::step, until_ns);
    return;
  }
  worker.point = 0;
  walk_.advance(worker.cursor);
  next_event(worker, worker.cursor.done() ? Next::end : Next::step, until_ns);
}

// Whether the worker comes to its point again when a tile is there that it uses.
bool TimedWavefront::must_wait(Worker& worker, double now_ns) {
  const StepPoints::Point& point = (*points_)[worker.point];
  const auto slot = static_cast<size_t>(worker.cursor.step() % max_stages);
  for (size_t tensor = 0; tensor < walk_.roles().scans.size(); ++tensor) {
    if (!point.uses[tensor]) continue;
    if (points_->asks_at_use(tensor)) load_tile(worker, now_ns, tensor, 0);
    const ReadTime& load = (tensor == 0 ? worker.loads : worker.v_loads)[slot];
    if (!parameters_.stalls || load.arrival_ns <= now_ns) continue;
    wait_for(load, now_ns, terms_of(worker));
    worker.waited = true;
    next_event(worker, Next::step, load.arrival_ns);
  }
  return worker.waited;
}

// The wait is blamed on the terms of the load that it is for, each in proportion.
void TimedWavefront::wait_for(const ReadTime& load, double computed_ns, TimeTerms& terms) const {
  const double waited = load.arrival_ns - computed_ns;
  const double all = load.l2_ns + load.dram_ns + load.latency_ns;
  if (waited <= 0 || all <= 0) return;
  terms[TimeTerm::l2] += waited * load.l2_ns / all;
  terms[TimeTerm::dram] += waited * load.dram_ns / all;
  terms[TimeTerm::latency] += waited * load.latency_ns / all;
}

void TimedWavefront::prefetch(Worker& worker, double now_ns) {
  const auto touch = [&](Tensor tensor, int64_t head, int64_t tile, Access) {
    const AtomId tile_atom = atom(tensor, head, tile);
    const AtomSize size = atoms_.size(tile_atom);
    const int64_t lines = size.lines / size.tensors;
    const int64_t row_bytes = tensor == Tensor::v ? problem_.v_row_bytes() : problem_.k_row_bytes();
    const Range of_full = worker.prefetches.lines_of(prefetch_lines(tiling_, row_bytes));
    const Range part = intersection(of_full, {0, lines});
    if (part.empty()) return;
    memory_.prefetch(now_ns, worker.cta.sm, tile_atom,
                     {double(part.begin) / double(lines), double(part.end) / double(lines)});
  };
  walk_.load(worker.cursor, Tensor::k, schedule_.prefetch, Access::prefetch, touch);
  if (points_ && !problem_.kv_latent)
    walk_.load(worker.cursor, Tensor::v, schedule_.prefetch, Access::prefetch, touch);
}

}  // namespace sawtooth::sim
