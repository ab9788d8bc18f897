#include "experiments/sawtooth/search/order_search.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "experiments/sawtooth/simulate/predicted_point.hpp"
#include "experiments/sawtooth/support/ordered_workers.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

using Items = std::vector<WorkCoordinates>;

// Orders of one round begin at the same order and are predicted side by side; a number of its own,
// so that the answer does not depend on the threads.
constexpr int64_t orders_a_round = 8;
// Random samples of the model are no merit of an order: it is held against others, too.
constexpr uint64_t other_seeds = 4;

Items items_of(const Candidate& candidate) {
  const sim::Request& request = candidate.point.request;
  Items items;
  for (int64_t i = 0; i < whole_item_count(request.problem, request.tiling, request.schedule);
       ++i) {
    const Item item = whole_item_at(request.problem, request.tiling, request.schedule, i);
    items.push_back({item.batch, item.head, item.own_tile, item.part});
  }
  return items;
}

class Moves {
 public:
  Moves(uint64_t seed, size_t items, size_t wave)
      : random_(seed), items_(items), wave_(std::min(items, wave)) {}

  /// One of: two items change places, a run moves, a run is turned round, two waves change places,
  /// a wave is turned round.
  void apply(Items& items) {
    switch (below(5)) {
      case 0:
        std::swap(items[below(items_)], items[below(items_)]);
        return;
      case 1:
        move_run(items);
        return;
      case 2: {
        const size_t length = 1 + below(2 * wave_), begin = below(items_);
        reverse(items, begin, begin + length);
        return;
      }
      case 3:
        swap_waves(items);
        return;
      default: {
        const size_t begin = below(waves()) * wave_;
        reverse(items, begin, begin + wave_);
      }
    }
  }

 private:
  size_t below(size_t end) { return static_cast<size_t>(random_() % std::max<size_t>(1, end)); }
  size_t waves() const { return (items_ + wave_ - 1) / wave_; }
  void reverse(Items& items, size_t begin, size_t end) const {
    std::reverse(items.begin() + std::ptrdiff_t(begin),
                 items.begin() + std::ptrdiff_t(std::min(end, items_)));
  }
  void move_run(Items& items) {
    const size_t begin = below(items_), end = std::min(items_, begin + 1 + below(wave_));
    const Items run(items.begin() + std::ptrdiff_t(begin), items.begin() + std::ptrdiff_t(end));
    items.erase(items.begin() + std::ptrdiff_t(begin), items.begin() + std::ptrdiff_t(end));
    const auto to = items.begin() + std::ptrdiff_t(below(items.size() + 1));
    items.insert(to, run.begin(), run.end());
  }
  void swap_waves(Items& items) {
    const size_t whole = items_ / wave_;
    const size_t a = below(whole) * wave_, b = below(whole) * wave_;
    if (whole == 0 || a == b) return;
    std::swap_ranges(items.begin() + std::ptrdiff_t(a), items.begin() + std::ptrdiff_t(a + wave_),
                     items.begin() + std::ptrdiff_t(b));
  }

  std::mt19937_64 random_;
  size_t items_, wave_;
};

/// What explains an order: who has how much, and how many K/V heads a wave is at.
struct Traits {
  double busiest_steps = 0;  // over the mean of the workers; where a stride says who has what
  double heads_a_wave = 0;   // mean number of K/V heads among W items in a row
};

Traits traits_of(const Candidate& candidate, const Items& items) {
  const sim::Request& request = candidate.point.request;
  const auto workers = static_cast<size_t>(request.schedule.workers);
  std::vector<double> steps(workers, 0.0);
  double all = 0, heads = 0;
  std::set<std::pair<int64_t, int64_t>> of_wave;
  size_t waves = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto tiles = double(scanned_by(request.problem, request.tiling, request.schedule,
                                         items[i], request.problem.pass)
                                  .size());
    steps[i % workers] += tiles;
    all += tiles;
    of_wave.emplace(items[i].batch, request.problem.kv_head_of(items[i].head));
    if (i % workers + 1 < workers && i + 1 < items.size()) continue;
    heads += double(of_wave.size());
    of_wave.clear();
    ++waves;
  }
  return {*std::ranges::max_element(steps) * double(workers) / std::max(1.0, all),
          heads / double(std::max<size_t>(1, waves))};
}

class Climb {
 public:
  Climb(const Verdict& begin, const Goal& goal, const OrderSearch& how)
      : begin_(begin), goal_(goal), how_(how), best_(items_of(*begin.candidate)) {
    least_ = *value_in(begin.row, goal.minimise);
    for (const Constraint& constraint : goal.constraints) {
      const double own = value_in(begin.row, constraint.objective).value_or(0);
      // Limits in multiples of the best are kept by what begins: no more than it has.
      limits_.push_back(constraint.of_best ? own : std::max(own, constraint.limit));
    }
  }

  const Items& best() const { return best_; }
  bool improved() const { return accepted_ > 0; }

  void run() {
    Moves moves(goal_.seed, best_.size(),
                static_cast<size_t>(begin_.candidate->point.request.schedule.workers));
    for (int64_t made = 0; made < how_.evaluations; made += orders_a_round) {
      std::vector<Items> orders;
      const int64_t most = std::min(orders_a_round, how_.evaluations - made);
      for (int64_t i = 0; i < most; ++i) {
        orders.push_back(best_);
        moves.apply(orders.back());
      }
      const std::vector<CsvRow> rows = predict(orders, begin_.candidate->point.keys.seed);
      size_t winner = orders.size();
      for (size_t i = 0; i < orders.size(); ++i) {
        const auto value = value_in(rows[i], goal_.minimise);
        if (!value || *value >= least_ || !keeps_limits(rows[i])) continue;
        least_ = *value;
        winner = i;
      }
      if (winner == orders.size()) continue;
      best_ = std::move(orders[winner]);
      ++accepted_;
    }
  }

  /// Where an order gains under random samples that it was not chosen by.
  std::string with_other_seeds() {
    std::vector<double> gains;
    const Items begin = items_of(*begin_.candidate);
    for (uint64_t seed = 1; seed <= other_seeds; ++seed) {
      const auto rows = predict({begin, best_}, begin_.candidate->point.keys.seed + seed);
      const auto before = value_in(rows[0], goal_.minimise);
      const auto after = value_in(rows[1], goal_.minimise);
      if (before && after && *before > 0) gains.push_back(*after / *before - 1);
    }
    return gains.empty() ? "" : fixed(100 * median_of(gains), 2) + " %";
  }

  std::string explain() {
    const Items begin = items_of(*begin_.candidate);
    size_t displaced = 0;
    for (size_t i = 0; i < begin.size(); ++i) displaced += begin[i] == best_[i] ? 0 : 1;
    const Traits before = traits_of(*begin_.candidate, begin);
    const Traits after = traits_of(*begin_.candidate, best_);
    const double old = *value_in(begin_.row, goal_.minimise);
    std::string text = "local search: " + std::to_string(accepted_) + " moves, " +
                       fixed(100 * double(displaced) / double(begin.size()), 0) +
                       " % of the items displaced; " + goal_.minimise.name + " " +
                       fixed(100 * (least_ / old - 1), 2) + " %, with other seeds " +
                       with_other_seeds() + "; K/V heads a wave " + fixed(before.heads_a_wave, 2) +
                       " to " + fixed(after.heads_a_wave, 2);
    if (strides(begin_.candidate->point.request.schedule.launch))
      text.append(", busiest worker's steps over the mean ")
          .append(fixed(before.busiest_steps, 3))
          .append(" to ")
          .append(fixed(after.busiest_steps, 3));
    return text;
  }

 private:
  std::vector<CsvRow> predict(const std::vector<Items>& orders, uint64_t seed) const {
    std::vector<CsvRow> rows(orders.size());
    run_in_order(
        orders.size(), how_.threads,
        [&](size_t i) {
          Point point = begin_.candidate->point;
          set_order(point, orders[i]);
          point.request.schedule.seed = seed;
          return predict_point(point, begin_.candidate->key_cells).row;
        },
        [&](size_t i, CsvRow row) { rows[i] = std::move(row); }, [] {});
    return rows;
  }

  bool keeps_limits(const CsvRow& row) const {
    for (size_t c = 0; c < limits_.size(); ++c)
      if (value_in(row, goal_.constraints[c].objective).value_or(limits_[c]) > limits_[c])
        return false;
    return true;
  }

  const Verdict& begin_;
  const Goal& goal_;
  const OrderSearch& how_;
  Items best_;
  double least_ = 0;
  std::vector<double> limits_;
  int64_t accepted_ = 0;
};

}  // namespace

std::string order_text(const std::vector<WorkCoordinates>& order, int64_t kv_split) {
  std::string text;
  for (const WorkCoordinates& at : order) {
    text += std::to_string(at.batch) + " " + std::to_string(at.head) + " " +
            std::to_string(at.own_tile);
    if (kv_split > 1) text.append(" ").append(std::to_string(at.part));
    text += "\n";
  }
  return text;
}

FoundOrder search_orders(const Verdict& begin, const Goal& goal, const OrderSearch& how,
                         const std::string& experiment, Catalog& catalog) {
  Climb climb(begin, goal, how);
  climb.run();
  if (!climb.improved()) return {};
  const Point& point = begin.candidate->point;
  OutputFile file(how.path);
  file.write(std::string("# ").append(climb.explain()).append("\n"));
  file.write(order_text(climb.best(), point.request.schedule.kv_split));
  file.commit();
  Settings settings = begin.candidate->settings;
  for (const char* key : {"section", "q-order", "head-order"}) settings.erase(key);
  settings["order-file"] = {{how.path}, {"search", 0}};
  FoundOrder found{
      std::make_unique<Candidate>(candidate_of(std::move(settings), experiment, catalog)),
      {},
      climb.explain()};
  found.row = predict_point(found.candidate->point, found.candidate->key_cells).row;
  return found;
}

}  // namespace sawtooth::experiments
