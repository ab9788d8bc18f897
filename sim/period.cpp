#include "sim/period.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "sim/stack_distance.hpp"

namespace sawtooth::sim {
namespace {

constexpr int64_t longest_period = 2;  // in rounds: what the alternating scans have

// Neighbouring workers that read the same K/V tiles in the same order.
struct Group {
  int64_t kv_head = 0;  // batch * kv_heads + head
  bool forwards = true;
  uint32_t workers = 0;
  friend bool operator==(const Group&, const Group&) = default;
};

// One item per worker, and then the turn: every worker writes its O and reads its next Q.
struct Round {
  std::vector<Group> groups;
  std::vector<AtomId> turn;       // atoms of Q, O and log-sum-exp, in the order of their visits
  std::vector<AtomSize> weights;  // of these
  std::vector<int64_t> heads;     // sorted K/V heads

  bool repeats(const Round& other) const {
    const auto same_size = [](AtomSize a, AtomSize b) {
      return a.lines == b.lines && a.sectors == b.sectors;
    };
    return groups == other.groups &&
           std::equal(weights.begin(), weights.end(), other.weights.begin(), other.weights.end(),
                      same_size);
  }
};

// What one visit adds to the histogram.
struct Added {
  DistanceClass* distances;
  int64_t lines;  // or StackDistance::cold
  int64_t sectors;
};

// What the replay of one round adds, and how often: written to the histogram when it is dropped.
struct Log {
  std::vector<Added> added;
  int64_t times = 1;
  int64_t tile_visits = 0;
};

class Replay {
 public:
  Replay(const Request& request, const AtomTable& atoms, DistanceHistogram& histogram)
      : request_(request),
        problem_(request.problem),
        atoms_(atoms),
        histogram_(histogram),
        stack_(atoms.sizes()),
        items_(item_count(problem_, request.tiling, request.schedule)),
        workers_(min_of(request.schedule.workers, items_)),
        steps_(kv_tiles(problem_, request.tiling)) {}

  RoundReplay run() {
    lay_out_rounds();
    const auto count = static_cast<int64_t>(rounds_.size());
    for (int64_t w = 0; w < workers_; ++w) visit(first_q(w), 1);
    for (int64_t r = 0; r < count;) {
      const int64_t repeated = multiply(r);
      if (repeated == 0) replay(r);
      result_.rounds_multiplied += repeated;
      r += max_of(1, repeated);
    }
    for (Log& log : logs_) write_out(log);
    result_.rounds = count;
    result_.steps = count * steps_;
    return result_;
  }

 private:
  int64_t round_end(int64_t round) const { return min_of(items_, (round + 1) * workers_); }
  Item item(int64_t index) const {
    return item_at(problem_, request_.tiling, request_.schedule, index);
  }
  int64_t q_head(const Item& item) const { return item.batch * problem_.heads + item.head; }
  AtomId first_q(int64_t worker) const {
    const Item first = item(worker);
    return atoms_.id(Tensor::q, q_head(first), first.q_tile);
  }

  void lay_out_rounds() {
    const int64_t count = ceil_div(items_, workers_);
    const auto all_heads = static_cast<size_t>(problem_.batch * problem_.kv_heads);
    last_round_.assign(all_heads, -1);
    first_round_.assign(all_heads, count);
    for (int64_t r = 0; r < count; ++r) {
      Round round;
      for (int64_t i = r * workers_; i < round_end(r); ++i) add_item(round, item(i), r);
      add_turn(round, r);
      for (const AtomId atom : round.turn) round.weights.push_back(atoms_.size(atom));
      for (const Group& group : round.groups) round.heads.push_back(group.kv_head);
      std::sort(round.heads.begin(), round.heads.end());
      round.heads.erase(std::unique(round.heads.begin(), round.heads.end()), round.heads.end());
      rounds_.push_back(std::move(round));
    }
  }

  void add_item(Round& round, const Item& item, int64_t r) {
    const ScanContext context = scan_context(request_.schedule, item, r, 0);
    const int64_t kv_head = item.batch * problem_.kv_heads + item.kv_head;
    const bool forwards = kv_tile_at(request_.schedule, item, context, 0) == 0;
    last_round_[static_cast<size_t>(kv_head)] = r;
    int64_t& first = first_round_[static_cast<size_t>(kv_head)];
    first = min_of(first, r);
    if (!round.groups.empty() && round.groups.back().kv_head == kv_head &&
        round.groups.back().forwards == forwards) {
      ++round.groups.back().workers;
    } else {
      round.groups.push_back({kv_head, forwards, 1});
    }
  }

  // In lockstep a worker writes O and reads its next Q at once; a wave reads them after all writes.
  void add_turn(Round& round, int64_t r) {
    const auto read_next = [&](int64_t index) {
      if (index >= items_) return;
      const Item next = item(index);
      round.turn.push_back(atoms_.id(Tensor::q, q_head(next), next.q_tile));
    };
    const bool waits = request_.timing == Timing::lockstep_wave;
    for (int64_t i = r * workers_; i < round_end(r); ++i) {
      const Item done = item(i);
      round.turn.push_back(atoms_.id(Tensor::o, q_head(done), done.q_tile));
      if (request_.log_sum_exp) {
        round.turn.push_back(atoms_.id(Tensor::lse, q_head(done), done.q_tile));
      }
      if (!waits) read_next(i + workers_);
    }
    for (int64_t i = r * workers_; waits && i < round_end(r); ++i) read_next(i + workers_);
  }

  // Rounds from `r` on that can be multiplied: whole periods, or 0.
  int64_t multiply(int64_t r) {
    for (int64_t period = 1; period <= longest_period; ++period) {
      // The rounds of one period and the one before it must have been replayed just now.
      if (r - replayed_since_ < period + 1) continue;
      if (!same_heads(r - 1 - period, r - 1) || other_heads_wait(r)) continue;
      if (!at(r - 1).repeats(at(r - 1 - period))) continue;
      int64_t end = r;
      while (end < int64_t(rounds_.size()) && at(end).repeats(at(end - period))) ++end;
      const int64_t times = (end - r) / period;
      if (times == 0) continue;
      for (int64_t back = 1; back <= period; ++back) add_again(back, times);
      replayed_since_ = r + times * period;
      return times * period;
    }
    return 0;
  }

  bool same_heads(int64_t first, int64_t last) const {
    for (int64_t r = first; r < last; ++r) {
      if (at(r).heads != at(last).heads) return false;
    }
    return true;
  }

  // Whether heads that the last round left out come back: their distances need every round.
  bool other_heads_wait(int64_t r) const {
    const std::vector<int64_t>& now = at(r - 1).heads;
    for (size_t head = 0; head < last_round_.size(); ++head) {
      if (first_round_[head] < r && last_round_[head] >= r &&
          !std::binary_search(now.begin(), now.end(), int64_t(head))) {
        return true;
      }
    }
    return false;
  }

  void replay(int64_t r) {
    std::rotate(logs_.begin(), logs_.end() - 1, logs_.end());
    write_out(logs_[0]);
    const int64_t visits_before = result_.tile_visits;
    const Round& round = at(r);
    for (int64_t step = 0; step < steps_; ++step) {
      for (const Tensor tensor : {Tensor::k, Tensor::v}) {
        for (const Group& group : round.groups) {
          const int64_t tile = group.forwards ? step : steps_ - 1 - step;
          visit_group(atoms_.id(tensor, group.kv_head, tile), group.workers);
        }
      }
    }
    for (const AtomId atom : round.turn) visit(atom, 1);
    logs_[0].tile_visits = result_.tile_visits - visits_before;
  }

  void visit_group(AtomId atom, uint32_t workers) {
    if (request_.merge_lockstep) return visit(atom, workers);
    for (uint32_t worker = 0; worker < workers; ++worker) visit(atom, 1);
  }

  void visit(AtomId atom, uint32_t times) {
    const AtomSize size = atoms_.size(atom);
    const Tensor tensor = atoms_.tensor_of(atom);
    const bool written = tensor == Tensor::o || tensor == Tensor::lse;
    DistanceClass& distances = histogram_.of(tensor, written ? Access::write : Access::read);
    const int64_t others = stack_.visit(atom);
    const bool cold = others == StackDistance::cold;
    log_visit(
        {&distances, cold ? others : line_distance(others, size.lines, 0, false), size.sectors});
    if (times > 1) {
      log_visit({&distances, line_distance(0, size.lines, 0, false),
                 int64_t{size.sectors} * (times - 1)});
    }
    result_.tile_visits += times;
  }

  void log_visit(const Added& added) { logs_[0].added.push_back(added); }

  static void write_out(Log& log) {
    for (const Added& added : log.added) {
      if (added.lines == StackDistance::cold) {
        added.distances->add_cold(added.sectors * log.times);
      } else {
        added.distances->add(added.lines, added.sectors * log.times);
      }
    }
    log.added.clear();
    log.times = 1;
  }

  // Counts the round replayed `back` rounds ago `times` times more.
  void add_again(int64_t back, int64_t times) {
    Log& log = logs_[static_cast<size_t>(back - 1)];
    log.times += times;
    result_.tile_visits += log.tile_visits * times;
  }

  const Round& at(int64_t r) const { return rounds_[static_cast<size_t>(r)]; }

  const Request& request_;
  const Problem& problem_;
  const AtomTable& atoms_;
  DistanceHistogram& histogram_;
  StackDistance stack_;
  int64_t items_;
  int64_t workers_;
  int64_t steps_;
  std::vector<Round> rounds_;
  std::vector<int64_t> first_round_, last_round_;  // of every K/V head
  std::array<Log, longest_period> logs_;           // of the last replayed rounds, the latest first
  int64_t replayed_since_ = 0;                     // the first round after those last multiplied
  RoundReplay result_;
};

}  // namespace

bool has_rounds(const Request& request) {
  const Schedule& schedule = request.schedule;
  const bool straight =
      schedule.scan == scan_id<LinearScan> || schedule.scan == scan_id<ReverseScan> ||
      schedule.scan == scan_id<SawtoothScan> || schedule.scan == scan_id<SawtoothItemScan> ||
      schedule.scan == scan_id<SawtoothWaveScan>;
  return straight && schedule.loop == Loop::kv_inner && schedule.kv_split == 1 &&
         schedule.prefetch == 0 && schedule.order.list == nullptr &&
         request.problem.mask.kind == MaskKind::none &&
         item_count(request.problem, request.tiling, schedule) > 0;
}

RoundReplay replay_rounds(const Request& request, const AtomTable& atoms,
                          DistanceHistogram& histogram) {
  return Replay(request, atoms, histogram).run();
}

}  // namespace sawtooth::sim
