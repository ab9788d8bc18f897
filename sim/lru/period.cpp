#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "sim/lru/simulate_lru.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/roles.hpp"

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
  std::vector<AtomId> turn;    // atoms of Q, O and log-sum-exp, in the order of their visits
  std::vector<int64_t> heads;  // sorted K/V heads
  std::vector<Item> items;
};

// The visits of a replayed round, and how often they count: told to the histogram when dropped.
struct Log {
  std::vector<AtomId> atoms;
  std::vector<uint32_t> workers;   // that visit the atom in direct succession
  std::vector<int64_t> distances;  // as StackDistance gives them
  int64_t times = 1;
};

class Replay {
 public:
  Replay(const Request& request, LiveAtoms& atoms, DistanceHistogram& histogram)
      : request_(request),
        problem_(request.problem),
        atoms_(atoms),
        histogram_(histogram),
        stack_(std::span<const AtomSize>()),
        items_(item_count(problem_, request.tiling, request.schedule)),
        workers_(min_of(request.schedule.workers, items_)),
        count_(ceil_div(items_, workers_)),
        steps_(kv_tiles(problem_, request.tiling)),
        live_(request),
        next_items_(items_of(0)) {}

  RoundReplay run() {
    for (int64_t r = 0; r < count_;) {
      request_.throw_if_stopped();
      const int64_t repeated = multiply(r);
      if (repeated == 0) {
        replay(r);
        end_round(r);
      }
      result_.rounds_multiplied += repeated;
      r += max_of(1, repeated);
    }
    for (Log& log : logs_) write_out(log);
    result_.rounds = count_;
    result_.steps = count_ * steps_;
    return result_;
  }

 private:
  int64_t round_end(int64_t round) const { return min_of(items_, (round + 1) * workers_); }
  Item item(int64_t index) const {
    return item_at(problem_, request_.tiling, request_.schedule, index);
  }
  int64_t q_head(const Item& item) const { return item.batch * problem_.heads + item.head; }
  int64_t kv_head(const Item& item) const { return item.batch * problem_.kv_heads + item.kv_head; }
  AtomId q_atom(const Item& item) { return atoms_.id(Tensor::q, q_head(item), item.own_tile); }
  std::vector<Item> items_of(int64_t round) const {
    std::vector<Item> items;
    for (int64_t i = round * workers_; i < round_end(round); ++i) items.push_back(item(i));
    return items;
  }

  // Round `r`, laid out with all before it that still count.
  const Round& round_at(int64_t r) {
    while (r >= first_kept_ + std::ssize(rounds_)) lay_out(first_kept_ + std::ssize(rounds_));
    return at(r);
  }

  void lay_out(int64_t r) {
    Round round;
    round.items = std::move(next_items_);
    next_items_ = items_of(r + 1);
    for (const Item& item : round.items) add_item(round, item, r);
    add_turn(round, round.items, next_items_);
    for (const Group& group : round.groups) round.heads.push_back(group.kv_head);
    std::sort(round.heads.begin(), round.heads.end());
    round.heads.erase(std::unique(round.heads.begin(), round.heads.end()), round.heads.end());
    rounds_.push_back(std::move(round));
  }

  // Round `r` will not be replayed again, nor what only it still had to touch; the next ones are
  // compared with it and the one before.
  void end_round(int64_t r) {
    for (const Item& item : round_at(r).items)
      live_.item_ended(q_head(item), kv_head(item),
                       [&](Tensor q_or_k, int64_t head) { atoms_.ended(q_or_k, head); });
    atoms_.recycle([&](AtomRange atoms) {
      learn_sizes();
      stack_.forget(atoms);
    });
    for (; first_kept_ < r - longest_period; ++first_kept_) rounds_.pop_front();
  }

  void learn_sizes() {
    while (known_ < atoms_.sizes().size()) stack_.add(atoms_.sizes()[known_++].lines);
  }

  void add_item(Round& round, const Item& item, int64_t r) {
    const ScanContext context = scan_context(request_.schedule, item, r, 0);
    const int64_t head = kv_head(item);
    const bool forwards = scanned_tile_at(request_.schedule, item, context, 0) == 0;
    if (!round.groups.empty() && round.groups.back().kv_head == head &&
        round.groups.back().forwards == forwards) {
      ++round.groups.back().workers;
    } else {
      round.groups.push_back({head, forwards, 1});
    }
  }

  // In lockstep a worker writes O and reads its next Q at once; a wave reads them after all writes.
  void add_turn(Round& round, const std::vector<Item>& items, const std::vector<Item>& next) {
    const bool waits = request_.timing == Timing::lockstep_wave;
    for (size_t w = 0; w < items.size(); ++w) {
      const int64_t head = q_head(items[w]);
      round.turn.push_back(atoms_.id(Tensor::o, head, items[w].own_tile));
      if (request_.log_sum_exp)
        round.turn.push_back(atoms_.id(Tensor::lse, head, items[w].own_tile));
      if (!waits && w < next.size()) round.turn.push_back(q_atom(next[w]));
    }
    for (size_t w = 0; waits && w < next.size(); ++w) round.turn.push_back(q_atom(next[w]));
  }

  // Rounds from `r` on that can be multiplied: whole periods, or 0. These have ended.
  int64_t multiply(int64_t r) {
    for (int64_t period = 1; period <= longest_period; ++period) {
      // The rounds of one period and the one before it must have been replayed just now.
      if (r - replayed_since_ < period + 1) continue;
      if (!same_heads(r - 1 - period, r - 1) || other_heads_wait(r)) continue;
      if (!repeats(r - 1, r - 1 - period)) continue;
      const int64_t times = repeated_periods(r, period);
      if (times == 0) continue;
      for (int64_t back = 1; back <= period; ++back) add_again(back, times);
      replayed_since_ = r + times * period;
      return times * period;
    }
    return 0;
  }

  // How often the last `period` rounds before `r` come again at once. Whole periods end.
  int64_t repeated_periods(int64_t r, int64_t period) {
    int64_t times = 0;
    for (;; ++times) {
      const int64_t begin = r + times * period;
      if (begin + period > count_) return times;
      for (int64_t at = begin; at < begin + period; ++at)
        if (!repeats(at, at - period)) return times;
      for (int64_t at = begin; at < begin + period; ++at) end_round(at);
    }
  }

  bool repeats(int64_t one, int64_t other) {
    const auto same_size = [&](AtomId a, AtomId b) { return atoms_.size(a) == atoms_.size(b); };
    round_at(one);
    const std::vector<AtomId>&turn = at(one).turn, &other_turn = at(other).turn;
    return at(one).groups == at(other).groups &&
           std::equal(turn.begin(), turn.end(), other_turn.begin(), other_turn.end(), same_size);
  }

  bool same_heads(int64_t first, int64_t last) const {
    for (int64_t r = first; r < last; ++r)
      if (at(r).heads != at(last).heads) return false;
    return true;
  }

  // Whether heads that the last round left out come back: their distances need every round.
  bool other_heads_wait(int64_t r) const {
    const std::vector<int64_t>& now = at(r - 1).heads;
    const auto goes_on = [&](int64_t head) { return live_.has_begun_kv_head(head); };
    return live_.begun_kv_heads() > std::count_if(now.begin(), now.end(), goes_on);
  }

  void replay(int64_t r) {
    std::rotate(logs_.begin(), logs_.end() - 1, logs_.end());
    write_out(logs_[0]);
    Log& log = logs_[0];
    const Round& round = round_at(r);
    for (size_t w = 0; r == 0 && w < round.items.size(); ++w)
      add_visits(log, q_atom(round.items[w]), 1);
    for (int64_t step = 0; step < steps_; ++step) {
      for (const Tensor tensor : roles_of(request_).scans) {
        for (const Group& group : round.groups) {
          const int64_t tile = group.forwards ? step : steps_ - 1 - step;
          add_visits(log, atoms_.id(tensor, group.kv_head, tile), group.workers);
        }
      }
    }
    for (const AtomId atom : round.turn) add_visits(log, atom, 1);
    learn_sizes();
    log.distances.resize(log.atoms.size());
    stack_.visit(log.atoms, log.distances);
  }

  void add_visits(Log& log, AtomId atom, uint32_t workers) const {
    const bool merge = request_.merge_lockstep;
    log.atoms.insert(log.atoms.end(), merge ? 1 : workers, atom);
    log.workers.insert(log.workers.end(), merge ? 1 : workers, merge ? workers : 1);
  }

  void write_out(Log& log) {
    for (size_t i = 0; i < log.atoms.size(); ++i) {
      const AtomSize size = atoms_.size(log.atoms[i]);
      const Tensor tensor = atoms_.tensor_of(log.atoms[i]);
      const bool written = tensor == Tensor::o || tensor == Tensor::lse;
      DistanceClass& distances = histogram_.of(tensor, written ? Access::write : Access::read);
      distances.add_visits(log.distances[i], size.lines, size.sectors, log.workers[i], log.times);
      result_.tile_visits += log.workers[i] * log.times;
    }
    log.atoms.clear();
    log.workers.clear();
    log.times = 1;
  }

  // Counts the round replayed `back` rounds ago `times` times more.
  void add_again(int64_t back, int64_t times) {
    logs_[static_cast<size_t>(back - 1)].times += times;
  }

  const Round& at(int64_t r) const { return rounds_[static_cast<size_t>(r - first_kept_)]; }

  const Request& request_;
  const Problem& problem_;
  LiveAtoms& atoms_;
  DistanceHistogram& histogram_;
  StackDistance stack_;
  int64_t items_, workers_;
  int64_t count_;  // of all rounds
  int64_t steps_;
  LiveHeads live_;                // after the rounds that have ended
  size_t known_ = 0;              // atoms, to stack_
  std::vector<Item> next_items_;  // of the round after those laid out
  int64_t first_kept_ = 0;        // round, of rounds_
  std::deque<Round> rounds_;
  std::array<Log, longest_period> logs_;  // of the last replayed rounds, the latest first
  int64_t replayed_since_ = 0;            // the first round after those last multiplied
  RoundReplay result_;
};

}  // namespace

bool has_rounds(const Request& request) {
  const Schedule& schedule = request.schedule;
  return traits_of(schedule.scan).straight && request.problem.pass == Pass::forward &&
         request.own_scan == nullptr && schedule.loop == Loop::kv_inner && schedule.kv_split == 1 &&
         !cuts_last_wave(schedule) && schedule.prefetch == 0 && schedule.order.list == nullptr &&
         request.sequences.lengths == nullptr && !request.sequences.prefix.shared() &&
         !request.shares.cuts() && request.problem.mask.kind == MaskKind::none &&
         item_count(request.problem, request.tiling, schedule) > 0;
}

RoundReplay replay_rounds(const Request& request, LiveAtoms& atoms, DistanceHistogram& histogram) {
  return Replay(request, atoms, histogram).run();
}

}  // namespace sawtooth::sim
