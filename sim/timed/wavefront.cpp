#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>

#include "scheduler/integer_math.hpp"
#include "scheduler/permutation.hpp"
#include "scheduler/prefetch.hpp"
#include "sim/schedule/item_walk.hpp"
#include "sim/timed/chance.hpp"
#include "sim/timed/events.hpp"
#include "sim/timed/placement.hpp"
#include "sim/timed/simulate_timed.hpp"
#include "sim/timed/step_cost.hpp"
#include "sim/timed/step_times.hpp"

namespace sawtooth::sim {
namespace {

int64_t held_at_once(const TimedParameters& parameters, int64_t workers) {
  if (parameters.resident_ctas == 0) return workers;
  return std::min(workers, parameters.resident_ctas * parameters.sms);
}

bool of_earlier_call(Tensor tensor) {
  return tensor == Tensor::running_o || tensor == Tensor::running_lse;
}

constexpr int64_t pace_salt = int64_t{1} << 35;  // of a worker's pace, beside its own stream

// Every worker draws random numbers from a stream of its own, independent of the others.
uint64_t stream_of(uint64_t seed, int64_t worker) {
  return mix_seed(seed, static_cast<uint64_t>(worker));
}

// Workers walk their items in time, each from event to event.
//
// A worker has one event at a time: it takes an item, begins a step, or ends an item. When a step
// begins, its tile is there and the tile `stages - 1` steps ahead is asked for; the step then takes
// its turn at the SM's pipes. The next step begins when this one has been computed and its own tile
// has arrived, so what comes late makes its worker wait, and no other. A kernel with leads asks for
// K and V apart and waits for each at its use (sim/timed/step_cost.hpp). Tickets go to whoever is
// first in time. In the backward pass a step's additions to dQ go out when it has been computed,
// and under dq = ordered wait there for their turn. docs/models/timed.md explains it on two pages.

class TimedWavefront {
 public:
  /// All arguments must outlive the wavefront.
  TimedWavefront(const Request& request, const TimedParameters& parameters, LiveAtoms& atoms,
                 TimedMemory& memory, const TimedLaunch& launch)
      : request_(request),
        problem_(request.problem),
        tiling_(request.tiling),
        schedule_(request.schedule),
        parameters_(parameters),
        atoms_(atoms),
        memory_(memory),
        heads_(atoms, memory),
        seed_(request.seed_of_launch()),
        cost_(step_cost(parameters.step, request.problem, request.tiling)),
        walk_(request),
        step_loads_(walk_.roles().scans.first(
            keeps_pairs(request, parameters.step) ? 1 : walk_.roles().scans.size())),
        held_(held_at_once(parameters, walk_.workers())),
        workers_(static_cast<size_t>(schedule_.launch == launch_id<GridLaunch> ? held_
                                                                               : walk_.workers())),
        step_times_(parameters, cost_, schedule_.prefetch > 0, memory.placed(), seed_),
        ended_ns_(workers_.size(), launch.begin_ns),
        events_(workers_.size()),
        launch_(launch) {
    if (schedule_.loop == Loop::kv_outer) {
      throw std::invalid_argument(
          "timing = timed: loop = kv-outer is not modelled in time; allowed: kv-inner");
    }
    if (parameters.step.stages < 1 || parameters.step.stages > max_stages) {
      throw std::invalid_argument("stages: " + std::to_string(parameters.step.stages) +
                                  " is not allowed; allowed: 1 to " + std::to_string(max_stages));
    }
    if (schedule_.dq == Dq::ordered && problem_.pass == Pass::backward)
      turns_.emplace(problem_, tiling_, schedule_.order, parameters.l2);
    if (!parameters.step.leads) return;
    if (problem_.pass == Pass::backward)
      throw std::invalid_argument("lead-k-steps: pass = backward has no leads; leave them out");
    const Leads& leads = *parameters.step.leads;
    if (!(leads.k_steps >= 0 && leads.v_steps >= 0 &&
          std::max(leads.k_steps, leads.v_steps) <= double(max_stages - 1)))
      throw std::invalid_argument("lead-k-steps, lead-v-steps: allowed: 0 to " +
                                  std::to_string(max_stages - 1));
    points_.emplace(leads);
    step_ = &TimedWavefront::go_on;
  }

  TimedReplay run() {
    const double busy_before_ns = memory_.dram_busy_ns();
    const auto dram_ends_ns = [&] {
      return launch_.begin_ns + launch_ns() + memory_.dram_busy_ns() - busy_before_ns;
    };
    start();
    while (!events_.empty()) {
      request_.throw_if_stopped();
      const Event event = events_.first();
      if (launch_.traffic != nullptr) cross_link(event.ns);
      Worker& worker = workers_[static_cast<size_t>(event.worker)];
      (this->*worker.next)(worker, event.ns);
    }
    if (turns_ && turns_->awaited())
      throw std::invalid_argument(
          "workers: with dq = ordered CTAs wait for some that have not begun; allowed: as many as "
          "all SMs hold at once");
    end_ns_ = std::max(end_ns_, dram_ends_ns());
    for (const double ended : ended_ns_) {
      phases_.back()[TimeTerm::idle] += end_ns_ - ended;
    }
    combine();
    end_ns_ = std::max(end_ns_, dram_ends_ns());
    return {end_ns_, tile_visits_, std::move(phases_)};
  }

 private:
  static constexpr int64_t max_stages = 8;

  struct Worker;
  using Act = void (TimedWavefront::*)(Worker& worker, double now_ns);
  struct Worker {
    WorkerCursor cursor;
    Act next = &TimedWavefront::take;  // at its event
    SmCta cta;
    int64_t phase = 0;
    PrefetchShare prefetches;  // that it fetches of every tile for the wave of its item
    std::array<ReadTime, max_stages> loads{};    // of step s at s mod max_stages; of K, with leads
    std::array<ReadTime, max_stages> v_loads{};  // with leads
    bool waited = false;                         // for what its point uses, with leads
    int point = 0;                               // of its step that is next, with leads
    double step_ns = 0;                          // of its step, with leads
    double computed_ns = 0;                      // of its step, all but dQ (dq = ordered)
    double in_turn_ns = 0;                       // of its step, dQ
  };

  AtomId atom(Tensor tensor, int64_t head, int64_t tile) {
    const AtomId first = atoms_.id(tensor, head, tile);
    heads_.begin();
    return first;
  }

  // What an item or the combine pass touches at its end: of these reads only those of earlier
  // calls' results are waited for, but all takes L2's bandwidth, and the launch ends with the last
  // of them.
  auto touch_by(int64_t sm, double now_ns) {
    return [this, sm, now_ns](Tensor tensor, int64_t head, int64_t tile, Access access) {
      const AtomId tile_atom = atom(tensor, head, tile);
      if (access == Access::write) {
        memory_.write(now_ns, sm, tile_atom);
        return 0.0;
      }
      return memory_.read(now_ns, sm, tile_atom).arrival_ns;
    };
  }

  double launch_ns() const { return parameters_.step.launch_ns.value_or(0); }
  double refill_ns() const { return parameters_.step.refill_ns.value_or(0); }

  // The combine kernel is launched when all parts are there, and takes what its bytes take.
  void combine() {
    const double combines_ns = end_ns_ + parameters_.step.combine_ns;
    walk_.combine(static_cast<int64_t>(workers_.size()), [&](int64_t w, Tensor tensor, int64_t head,
                                                             int64_t tile, Access access) {
      const auto touch = touch_by(workers_[static_cast<size_t>(w)].cta.sm, combines_ns);
      end_ns_ = std::max(end_ns_, touch(tensor, head, tile, access));
    });
  }

  void cross_link(double ns) {
    launch_.traffic->cross_until(ns, atoms_, [&](double at_ns, AtomRange came, AtomRange went) {
      heads_.begin();
      memory_.cross(at_ns, came, went, launch_.traffic->copier());
    });
  }

  // As many CTAs begin as the SMs hold; the others wait until one ends. First tickets go to who
  // begins first, but for the way to their counter: it is at home in one half, and the other half's
  // requests cross the fabric.
  void start() {
    const StepParameters& step = parameters_.step;
    const SmLayout& layout = parameters_.l2.layout;
    sms_of_ctas_ = sms_of_ctas(memory_.placed(), layout, held_);
    const std::vector<double> turns = turns_of(memory_.placed(), layout.tpc_turns);
    const std::vector<double> late_ns =
        start_ns(memory_.placed(), turns, step.start_spread_ns, step.start_uneven_share, seed_);
    const bool race = parameters_.ticket_race && schedule_.launch == launch_id<DynamicLaunch>;
    const double hop_ns = race ? parameters_.ticket_hop_ns : 0;
    for (int64_t w = 0; w < held_; ++w) {
      const int64_t sm = sms_of_ctas_[static_cast<size_t>(w)];
      const bool far = memory_.placed(sm).half != 0;
      begin_cta(
          w, sm,
          launch_.begin_ns + launch_ns() + late_ns[static_cast<size_t>(sm)] + (far ? hop_ns : 0));
    }
    waiting_ = held_;
    if (schedule_.launch == launch_id<GridLaunch>) ticket_ = held_;
  }

  // Its first instruction is at `ns`.
  void begin_cta(int64_t w, int64_t sm, double ns) {
    const StepParameters& step = parameters_.step;
    Worker& worker = workers_[static_cast<size_t>(w)];
    worker.cta = {.sm = sm,
                  .age = ctas_begun_++,
                  .random = stream_of(seed_, w),
                  .pace = ItemPace(stream_of(seed_, pace_salt + w))};
    step_times_.settle(worker.cta);
    events_.set({ns + step.item_begin_ns, static_cast<int32_t>(w)});
  }

  // A CTA has ended for good; the next one that waits takes its place.
  void end_cta(const Worker& worker, double now_ns) {
    events_.remove(number_of(worker));
    if (waiting_ >= static_cast<int64_t>(workers_.size())) return;
    begin_cta(waiting_++, worker.cta.sm, now_ns + refill_ns());
  }

  int32_t number_of(const Worker& worker) const {
    return static_cast<int32_t>(&worker - workers_.data());
  }

  void next_event(Worker& worker, Act next, double ns) {
    worker.next = next;
    events_.set({ns, number_of(worker)});
  }

  TimeTerms& terms_of(const Worker& worker) { return phases_[static_cast<size_t>(worker.phase)]; }

  // By share or by stride; under grid the first CTAs are the first items, whoever starts first, and
  // each one that ends makes room for the next; else the next ticket. False: there is no more.
  bool begin_next(int64_t w, WorkerCursor& cursor) {
    if (walk_.has_shares()) {
      const auto item = walk_.next_piece(w, cursor.items_begun());
      if (item) walk_.begin(cursor, *item, w);
      return item.has_value();
    }
    const int64_t begun = cursor.items_begun();
    const bool first_of_grid = schedule_.launch == launch_id<GridLaunch> && begun == 0;
    const int64_t index = strides(schedule_.launch) ? w + begun * schedule_.workers
                          : first_of_grid           ? w
                                                    : ticket_++;
    if (index < walk_.items()) walk_.begin(cursor, index);
    return index < walk_.items();
  }

  // Takes items until one has something to do; one that sees nothing writes O and is done.
  void take(Worker& worker, double now_ns) {
    const int64_t w = &worker - workers_.data();
    const StepParameters& step = parameters_.step;
    worker.phase = worker.cursor.items_begun();
    if (!begin_next(w, worker.cursor)) {
      end_cta(worker, now_ns);
      return;
    }
    for (auto& watched = launch_.watched;
         !watched.empty() && worker.cursor.item().index >= watched.front();
         watched.erase(watched.begin()))
      launch_.seen(now_ns);
    if (phases_.size() < static_cast<size_t>(worker.phase) + 2) phases_.resize(worker.phase + 2);
    double& ended_ns = ended_ns_[static_cast<size_t>(w)];
    const TimeTerm before = worker.phase == 0 ? TimeTerm::idle : TimeTerm::item;
    terms_of(worker)[before] += now_ns - step.item_begin_ns - ended_ns;
    terms_of(worker)[TimeTerm::item] += step.item_begin_ns;
    if (worker.cursor.done()) {
      next_event(worker, &TimedWavefront::end_item, now_ns);
      return;
    }
    ReadTime q;
    walk_.first_loads(worker.cursor, [&](Tensor tensor, int64_t head, int64_t tile, Access) {
      const ReadTime of_one = memory_.read(now_ns, worker.cta.sm, atom(tensor, head, tile));
      if (of_one.arrival_ns > q.arrival_ns) q = of_one;
    });
    if (schedule_.prefetch > 0) {
      worker.prefetches = prefetch_share(problem_, tiling_, schedule_, worker.cursor.item().index);
      const int64_t lines = prefetch_lines(tiling_, problem_.k_row_bytes());
      worker.cta.has_lines = !worker.prefetches.lines_of(lines).empty();
    }
    worker.cta.active = true;
    step_times_.begin_item(worker.cta.sm, now_ns, worker.phase == 0);
    if (schedule_.launch == launch_id<GridLaunch>) worker.cta.age = ctas_begun_++;
    load_first(worker, now_ns);
    const ReadTime& first = worker.loads[0];
    const ReadTime& last = points_ || q.arrival_ns > first.arrival_ns ? q : first;
    wait_for(last, now_ns, terms_of(worker));
    next_event(worker, step_, last.arrival_ns);
  }

  void begin_step(Worker& worker, double now_ns) {
    const StepParameters& step = parameters_.step;
    tile_visits_ += std::ssize(walk_.roles().scans) + std::ssize(walk_.roles().adds);
    walk_.start_step(worker.cursor);
    if (step.stages > 1) load_step(worker, now_ns, step.stages - 1);
    const double taken_ns = begin_computing(worker, now_ns);
    if (walk_.roles().adds.empty()) {
      leave_step(worker, now_ns + taken_ns);
      return;
    }
    if (!turns_) {
      next_event(worker, &TimedWavefront::add, now_ns + taken_ns);
      return;
    }
    worker.in_turn_ns = taken_ns * dq_share;
    worker.computed_ns = now_ns + taken_ns - worker.in_turn_ns;
    next_event(worker, &TimedWavefront::take_turn, worker.computed_ns + turns_->word_ns());
  }

  void leave_step(Worker& worker, double computed_ns) {
    const StepParameters& step = parameters_.step;
    walk_.advance(worker.cursor);
    if (worker.cursor.done()) {
      next_event(worker, &TimedWavefront::end_item, computed_ns);
      return;
    }
    if (step.stages == 1) load_step(worker, computed_ns, 0);
    const ReadTime& load = worker.loads[static_cast<size_t>(worker.cursor.step() % max_stages)];
    if (parameters_.stalls && load.arrival_ns > computed_ns) {
      wait_for(load, computed_ns, terms_of(worker));
      next_event(worker, step_, load.arrival_ns);
    } else {
      next_event(worker, step_, computed_ns);
    }
  }

  // Under dq = ordered the product dQ is computed in the step's turn.
  void take_turn(Worker& worker, double now_ns) {
    const std::optional<double> seen_ns = turns_->seen_ns(worker.cursor, number_of(worker));
    if (!seen_ns) {
      events_.remove(number_of(worker));
      return;
    }
    if (*seen_ns > now_ns) {
      next_event(worker, &TimedWavefront::take_turn, *seen_ns);
      return;
    }
    terms_of(worker)[TimeTerm::turn] += now_ns - worker.computed_ns;
    next_event(worker, &TimedWavefront::add, now_ns + worker.in_turn_ns);
  }

  // Additions go out behind the last product. Only under dq = ordered do workers wait for them.
  void add(Worker& worker, double now_ns) {
    double added_ns = now_ns;
    for (const Tensor tensor : walk_.roles().adds)
      walk_.load(worker.cursor, tensor, 0, Access::reduce,
                 [&](Tensor of, int64_t head, int64_t tile, Access) {
                   const double passed =
                       memory_.reduce(now_ns, worker.cta.sm, atom(of, head, tile));
                   added_ns = std::max(added_ns, passed);
                 });
    leave_step(worker, turns_ ? end_turn(worker, now_ns, added_ns) : now_ns);
  }

  // Gives when this worker goes on.
  double end_turn(const Worker& worker, double now_ns, double added_ns) {
    const DqTurns::End end = turns_->end(worker.cursor, added_ns);
    terms_of(worker)[TimeTerm::turn] += end.told_ns - now_ns;
    if (end.woken)
      next_event(workers_[static_cast<size_t>(*end.woken)], &TimedWavefront::take_turn,
                 end.seen_ns);
    return end.told_ns;
  }

  void end_item(Worker& worker, double now_ns) {
    const StepParameters& step = parameters_.step;
    const bool grid = schedule_.launch == launch_id<GridLaunch>;
    worker.cta.active = false;
    double summed_ns = now_ns;  // results of earlier calls are there
    const bool merged = walk_.results(
        worker.cursor.item(),
        [&, touch = touch_by(worker.cta.sm, now_ns)](Tensor tensor, int64_t head, int64_t tile,
                                                     Access access) {
          const double arrival_ns = touch(tensor, head, tile, access);
          if (parameters_.stalls && access == Access::read && of_earlier_call(tensor))
            summed_ns = std::max(summed_ns, arrival_ns);
        },
        [this](Tensor q_or_k, int64_t head) { atoms_.ended(q_or_k, head); });
    heads_.settle();
    const bool writes = !walk_.is_void(worker.cursor.item());
    const double taken_ns = writes ? step.item_end_ns + (merged ? step.merge_ns : 0) : 0;
    if (step.staggered.share > 0 && writes && !grid) worker.cta.pace.add(step.staggered);
    const double ended_ns = summed_ns + taken_ns;
    terms_of(worker)[TimeTerm::item] += ended_ns - now_ns;
    ended_ns_[static_cast<size_t>(number_of(worker))] = ended_ns;
    end_ns_ = std::max(end_ns_, ended_ns);
    next_event(worker, &TimedWavefront::take,
               ended_ns + (grid ? refill_ns() : 0) + step.item_begin_ns);
  }

  // What was asked for before an item's first step, had it had steps before.
  void load_first(Worker& worker, double now_ns) {
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

  // All that a step reads is there when the last of it is; what comes from a DRAM under load is
  // late at random. Past the item's end there is nothing to load.
  void load_step(Worker& worker, double now_ns, int64_t ahead) {
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

  void load_tile(Worker& worker, double now_ns, size_t tensor, int64_t ahead) {
    const auto slot = static_cast<size_t>((worker.cursor.step() + ahead) % max_stages);
    walk_.load(worker.cursor, roles::k_v[tensor], ahead, Access::read,
               [&](Tensor of, int64_t head, int64_t tile, Access) {
                 (tensor == 0 ? worker.loads : worker.v_loads)[slot] =
                     memory_.read(now_ns, worker.cta.sm, atom(of, head, tile));
               });
  }

  // What the step takes, from its beginning on.
  double begin_computing(Worker& worker, double now_ns) {
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
  void go_on(Worker& worker, double now_ns) {
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
      next_event(worker, step_, until_ns);
      return;
    }
    worker.point = 0;
    walk_.advance(worker.cursor);
    next_event(worker, worker.cursor.done() ? &TimedWavefront::end_item : step_, until_ns);
  }

  // Whether the worker comes to its point again when a tile is there that it uses.
  bool must_wait(Worker& worker, double now_ns) {
    const StepPoints::Point& point = (*points_)[worker.point];
    const auto slot = static_cast<size_t>(worker.cursor.step() % max_stages);
    for (size_t tensor = 0; tensor < walk_.roles().scans.size(); ++tensor) {
      if (!point.uses[tensor]) continue;
      if (points_->asks_at_use(tensor)) load_tile(worker, now_ns, tensor, 0);
      const ReadTime& load = (tensor == 0 ? worker.loads : worker.v_loads)[slot];
      if (!parameters_.stalls || load.arrival_ns <= now_ns) continue;
      wait_for(load, now_ns, terms_of(worker));
      worker.waited = true;
      next_event(worker, step_, load.arrival_ns);
    }
    return worker.waited;
  }

  // The wait is blamed on the terms of the load that it is for, each in proportion.
  void wait_for(const ReadTime& load, double computed_ns, TimeTerms& terms) const {
    const double waited = load.arrival_ns - computed_ns;
    const double all = load.l2_ns + load.dram_ns + load.latency_ns;
    if (waited <= 0 || all <= 0) return;
    terms[TimeTerm::l2] += waited * load.l2_ns / all;
    terms[TimeTerm::dram] += waited * load.dram_ns / all;
    terms[TimeTerm::latency] += waited * load.latency_ns / all;
  }

  void prefetch(Worker& worker, double now_ns) {
    const auto touch = [&](Tensor tensor, int64_t head, int64_t tile, Access) {
      const AtomId tile_atom = atom(tensor, head, tile);
      const AtomSize size = atoms_.size(tile_atom);
      const int64_t lines = size.lines / size.tensors;
      const int64_t row_bytes =
          tensor == Tensor::v ? problem_.v_row_bytes() : problem_.k_row_bytes();
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

  const Request& request_;
  const Problem& problem_;
  const Tiling& tiling_;
  const Schedule& schedule_;
  const TimedParameters& parameters_;
  LiveAtoms& atoms_;
  TimedMemory& memory_;
  HeldHeads<TimedMemory> heads_;
  uint64_t seed_;
  StepCost cost_;
  std::optional<StepPoints> points_;  // with leads
  Act step_ = &TimedWavefront::begin_step;
  ItemWalk walk_;
  std::span<const Tensor> step_loads_;  // without leads, together; forward's K and V are one atom
  std::optional<DqTurns> turns_;        // dq = ordered
  int64_t held_ = 0;                    // CTAs that all SMs hold at once
  int64_t waiting_ = 0;                 // the first CTA that has not begun
  std::vector<Worker> workers_;
  std::vector<int64_t> sms_of_ctas_;
  StepTimes step_times_;
  std::vector<double> ended_ns_;  // of a worker
  EventQueue events_;
  TimePhases phases_;
  int64_t ticket_ = 0;  // of the next item that is not taken
  int64_t ctas_begun_ = 0, tile_visits_ = 0;
  TimedLaunch launch_;
  double end_ns_ = 0;
};

}  // namespace

TimedReplay replay_in_time(const Request& request, const TimedParameters& parameters,
                           LiveAtoms& atoms, TimedMemory& memory, const TimedLaunch& launch) {
  return TimedWavefront(request, parameters, atoms, memory, launch).run();
}

}  // namespace sawtooth::sim
