#include "sim/lru/period.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "sim/lru/stack_distance.hpp"

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
    for (int64_t r = 0; r < count;) {
      request_.throw_if_stopped();
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
  AtomId q_atom(const Item& item) const { return atoms_.id(Tensor::q, q_head(item), item.q_tile); }
  std::vector<Item> items_of(int64_t round) const {
    std::vector<Item> items;
    for (int64_t i = round * workers_; i < round_end(round); ++i) items.push_back(item(i));
    return items;
  }

  void lay_out_rounds() {
    const int64_t count = ceil_div(items_, workers_);
    const auto all_heads = static_cast<size_t>(problem_.batch * problem_.kv_heads);
    last_round_.assign(all_heads, -1);
    first_round_.assign(all_heads, count);
    std::vector<Item> items = items_of(0);
    for (const Item& first : items) first_turn_.push_back(q_atom(first));
    for (int64_t r = 0; r < count; ++r) {
      Round round;
      for (const Item& item : items) add_item(round, item, r);
      std::vector<Item> next = r + 1 < count ? items_of(r + 1) : std::vector<Item>{};
      add_turn(round, items, next);
      items.swap(next);
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
  void add_turn(Round& round, const std::vector<Item>& items, const std::vector<Item>& next) {
    const bool waits = request_.timing == Timing::lockstep_wave;
    for (size_t w = 0; w < items.size(); ++w) {
      const int64_t head = q_head(items[w]);
      round.turn.push_back(atoms_.id(Tensor::o, head, items[w].q_tile));
      if (request_.log_sum_exp) {
        round.turn.push_back(atoms_.id(Tensor::lse, head, items[w].q_tile));
      }
      if (!waits && w < next.size()) round.turn.push_back(q_atom(next[w]));
    }
    for (size_t w = 0; waits && w < next.size(); ++w) round.turn.push_back(q_atom(next[w]));
  }

  // Rounds from `r` on that can be multiplied: whole periods, or 0.
  int64_t multiply(int64_t r) {
    for (int64_t period = 1; period <= longest_period; ++period) {
      // The rounds of one period and the one before it must have been replayed just now.
      if (r - replayed_since_ < period + 1) continue;
      if (!same_heads(r - 1 - period, r - 1) || other_heads_wait(r)) continue;
      if (!repeats(r - 1, r - 1 - period)) continue;
      int64_t end = r;
      while (end < int64_t(rounds_.size()) && repeats(end, end - period)) ++end;
      const int64_t times = (end - r) / period;
      if (times == 0) continue;
      for (int64_t back = 1; back <= period; ++back) add_again(back, times);
      replayed_since_ = r + times * period;
      return times * period;
    }
    return 0;
  }

  bool repeats(int64_t one, int64_t other) const {
    const auto same_size = [&](AtomId a, AtomId b) { return atoms_.size(a) == atoms_.size(b); };
    const std::vector<AtomId>&turn = at(one).turn, &other_turn = at(other).turn;
    return at(one).groups == at(other).groups &&
           std::equal(turn.begin(), turn.end(), other_turn.begin(), other_turn.end(), same_size);
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
    Log& log = logs_[0];
    for (size_t w = 0; r == 0 && w < first_turn_.size(); ++w) add_visits(log, first_turn_[w], 1);
    const Round& round = at(r);
    for (int64_t step = 0; step < steps_; ++step) {
      for (const Tensor tensor : {Tensor::k, Tensor::v}) {
        for (const Group& group : round.groups) {
          const int64_t tile = group.forwards ? step : steps_ - 1 - step;
          add_visits(log, atoms_.id(tensor, group.kv_head, tile), group.workers);
        }
      }
    }
    for (const AtomId atom : round.turn) add_visits(log, atom, 1);
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
      if (log.distances[i] == StackDistance::cold) {
        distances.add_cold(size.sectors * log.times);
      } else {
        distances.add(line_distance(log.distances[i], size.lines, 0, false),
                      size.sectors * log.times);
      }
      if (log.workers[i] > 1) {
        distances.add(line_distance(0, size.lines, 0, false),
                      size.sectors * log.times * (log.workers[i] - 1));
      }
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
  std::vector<AtomId> first_turn_;                 // the first Q of every worker
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
  return straight && request.own_scan == nullptr && schedule.loop == Loop::kv_inner &&
         schedule.kv_split == 1 && !cuts_last_wave(schedule) && schedule.prefetch == 0 &&
         schedule.order.list == nullptr && request.problem.mask.kind == MaskKind::none &&
         item_count(request.problem, request.tiling, schedule) > 0;
}

RoundReplay replay_rounds(const Request& request, const AtomTable& atoms,
                          DistanceHistogram& histogram) {
  return Replay(request, atoms, histogram).run();
}

}  // namespace sawtooth::sim
