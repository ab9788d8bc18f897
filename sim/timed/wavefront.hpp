// The timed wavefront: workers walk their items in time, each from event to event.
//
// A worker has one event at a time: it takes an item, begins a step, or ends an item. When a step
// begins, its tile is there and the tile `stages - 1` steps ahead is asked for; the step then takes
// its turn at the SM's pipes. The next step begins when this one has been computed and its own tile
// has arrived, so what comes late makes its worker wait, and no other. A kernel with leads asks for
// K and V apart and waits for each at its use (sim/timed/step_cost.hpp). Tickets go to whoever is
// first in time. In the backward pass a step's additions to dQ go out when it has been computed,
// and under dq = ordered wait there for their turn. docs/models/timed.md explains it on two pages.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/prefetch.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/schedule/item_walk.hpp"
#include "sim/schedule/link_traffic.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/timed/dq_turns.hpp"
#include "sim/timed/event_queue.hpp"
#include "sim/timed/memory.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/step_cost.hpp"
#include "sim/timed/step_times.hpp"

namespace sawtooth::sim {

class TimedWavefront {
 public:
  /// All arguments must outlive the wavefront. Throws std::invalid_argument for what it cannot
  /// replay (loop = kv-outer, more than max_stages stages).
  TimedWavefront(const Request& request, const TimedParameters& parameters, LiveAtoms& atoms,
                 TimedMemory& memory);

  /// Replays the whole schedule; returns its duration in nanoseconds.
  double run() { return run_from(0, nullptr); }
  /// Launches it at `begin_ns` of the memory's time, `traffic` beside it where there is any;
  /// returns when it ends.
  double run_from(double begin_ns, LinkTraffic* traffic);

  /// `seen` is called with the time when one of the items from each of `items` on has begun.
  void watch(std::vector<int64_t> items, std::function<void(double ns)> seen) {
    watched_ = std::move(items);
    seen_ = std::move(seen);
  }

  int64_t tile_visits() const { return tile_visits_; }
  /// Once: there is a phase for each item of a worker.
  TimePhases take_phases() { return std::move(phases_); }

  static constexpr int64_t max_stages = 8;

 private:
  enum class Next : uint8_t { take, step, turn, add, end };
  struct Worker {
    WorkerCursor cursor;
    Next next = Next::take;
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

  double launch_ns() const { return parameters_.step.launch_ns.value_or(0); }
  double refill_ns() const { return parameters_.step.refill_ns.value_or(0); }
  void start();
  void cross_link(double ns);
  void begin_cta(int64_t w, int64_t sm, double ns);
  void end_cta(const Worker& worker, double now_ns);
  bool begin_next(int64_t w, WorkerCursor& cursor);
  void take(Worker& worker, double now_ns);
  void begin_step(Worker& worker, double now_ns);
  void leave_step(Worker& worker, double computed_ns);
  void take_turn(Worker& worker, double now_ns);
  void add(Worker& worker, double now_ns);
  double end_turn(const Worker& worker, double now_ns, double added_ns);
  void end_item(Worker& worker, double now_ns);
  void go_on(Worker& worker, double now_ns);
  bool must_wait(Worker& worker, double now_ns);
  double begin_computing(Worker& worker, double now_ns);
  void load_step(Worker& worker, double now_ns, int64_t ahead);
  void load_tile(Worker& worker, double now_ns, size_t tensor, int64_t ahead);
  void load_first(Worker& worker, double now_ns);
  void prefetch(Worker& worker, double now_ns);
  void wait_for(const ReadTime& load, double computed_ns, TimeTerms& terms) const;
  void next_event(Worker& worker, Next next, double ns);
  int32_t number_of(const Worker& worker) const;
  TimeTerms& terms_of(const Worker& worker);
  AtomId atom(Tensor tensor, int64_t head, int64_t tile);
  auto touch_by(int64_t sm, double now_ns);

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
  ItemWalk walk_;
  std::span<const Tensor> step_loads_;  // without leads, together; forward's K and V are one atom
  std::optional<DqTurns> turns_;        // dq = ordered
  int64_t held_ = 0;                    // CTAs that all SMs hold at once
  int64_t waiting_ = 0;                 // the first CTA that has not begun
  std::vector<Worker> workers_;
  std::vector<int64_t> sms_of_ctas_;
  StepTimes step_times_;
  std::vector<double> item_late_ns_;  // of an SM: what an item takes beyond the usual
  std::vector<double> ended_ns_;      // of a worker
  EventQueue events_;
  TimePhases phases_;
  int64_t ticket_ = 0;  // of the next item that is not taken
  int64_t ctas_begun_ = 0;
  int64_t tile_visits_ = 0;
  LinkTraffic* traffic_ = nullptr;
  std::vector<int64_t> watched_;  // ascending
  std::function<void(double ns)> seen_;
  double begin_ns_ = 0;
  double end_ns_ = 0;
};

}  // namespace sawtooth::sim
