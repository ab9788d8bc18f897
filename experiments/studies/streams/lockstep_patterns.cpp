#include "experiments/studies/streams/lockstep_patterns.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t tiles_per_mib = (int64_t{1} << 20) / lockstep_tile_bytes;

bool is_causal(const LockstepPattern& pattern) {
  return pattern.family == LockstepFamily::causal ||
         pattern.family == LockstepFamily::causal_sawtooth;
}

/// Fills a table of steps and CTAs.
class Orders {
 public:
  Orders(const LockstepPattern& pattern, int64_t per_half)
      : pattern_(pattern), per_half_(per_half), ring_(pattern.mib * tiles_per_mib) {
    order_.per_half = per_half;
    // A causal order grows with its items.
    const int64_t steps = is_causal(pattern) ? 0 : pattern.steps;
    order_.tiles.assign(static_cast<size_t>(steps * 2 * per_half), LockstepOrder::none);
  }

  LockstepOrder filled() && {
    using enum LockstepFamily;
    const LockstepFamily family = pattern_.family;
    if (family == ring) fill_ring();
    if (family == pairs) fill_pairs();
    if (family == single) fill_single();
    if (family == follow) fill_follow();
    if (family == one_half) fill_one_half();
    if (family == chain) fill_chain();
    if (family == hot) fill_hot();
    if (is_causal(pattern_)) fill_causal(family == causal_sawtooth);
    return std::move(order_);
  }

 private:
  void fill_ring() {
    for_pairs([&](int64_t step, int64_t pair) {
      read_pair(step, pair, pair % pattern_.lanes * ring_ / pattern_.lanes + step);
    });
  }

  void fill_pairs() {
    std::vector<int64_t> place;
    for (int64_t pair = 0; pair < per_half_; ++pair)
      place.push_back(pair % pattern_.readers == 0 ? any_place() : place.back());
    for_pairs([&](int64_t step, int64_t pair) {
      read_pair(step, pair, place[static_cast<size_t>(pair)] + step);
    });
  }

  void fill_single() {
    std::vector<int64_t> place;
    for (int64_t cta = 0; cta < 2 * per_half_; ++cta) place.push_back(any_place());
    for (int64_t step = 0; step < pattern_.steps; ++step)
      for (int64_t cta = 0; cta < 2 * per_half_; ++cta)
        read(step, cta, place[static_cast<size_t>(cta)] + step);
  }

  void fill_follow() {
    const int64_t groups = (pattern_.second_mib > 0 ? 2 : 1) * pattern_.readers;
    for_lanes([&](int64_t step, int64_t pair, int64_t group, int64_t fresh) {
      if (group > groups) return;
      int64_t behind = group == 0 ? 0 : pattern_.distance_mib;
      if (group > pattern_.readers) behind += pattern_.second_mib;
      read_pair(step, pair, fresh - behind * tiles_per_mib);
    });
  }

  void fill_one_half() {
    const int64_t follower = pattern_.across ? per_half_ : 0;
    for_lanes([&](int64_t step, int64_t pair, int64_t group, int64_t fresh) {
      if (group == 0) return read(step, pair, fresh);
      if (group > pattern_.readers) return;
      read(step, follower + pair, fresh - pattern_.distance_mib * tiles_per_mib);
    });
  }

  void fill_chain() {
    for_lanes([&](int64_t step, int64_t pair, int64_t group, int64_t fresh) {
      if (group > pattern_.readers) return;
      // To the nearest tile.
      const int64_t behind =
          (2 * pattern_.distance_mib * tiles_per_mib * group + pattern_.readers) /
          (2 * pattern_.readers);
      read_pair(step, pair, fresh - behind);
    });
  }

  void fill_hot() {
    const int64_t kept = pattern_.distance_mib * tiles_per_mib;
    const int64_t period = pattern_.second_mib * tiles_per_mib;
    for_lanes([&](int64_t step, int64_t pair, int64_t group, int64_t fresh) {
      if (group == 0) return read_pair(step, pair, kept + fresh % (ring_ - kept));
      if (group > pattern_.readers) return;
      // `kept` hot reads in `period` fresh ones, evenly.
      const int64_t due = fresh * kept / period;
      if ((fresh + 1) * kept / period > due) read_pair(step, pair, due % kept);
    });
  }

  void fill_causal(bool sawtooth) {
    const int64_t ctas = 2 * per_half_;
    struct Worker {
      int64_t item, done = 0;
      bool backwards = false;
    };
    std::vector<Worker> workers;
    for (int64_t w = 0; w < ctas; ++w) workers.push_back({.item = w});
    const auto seat = [&](int64_t w) {
      if (!pattern_.across) return w;
      return w % 2 == 1 ? per_half_ + w / 2 : w / 2;
    };
    for (int64_t step = 0;; ++step) {
      bool any = false;
      for (int64_t w = 0; w < ctas; ++w) {
        Worker& worker = workers[static_cast<size_t>(w)];
        if (worker.item >= ring_) continue;
        if (!any) order_.tiles.resize(order_.tiles.size() + static_cast<size_t>(ctas), -1);
        any = true;
        read(step, seat(w), worker.backwards ? worker.item - worker.done : worker.done);
        if (++worker.done > worker.item)
          worker = {.item = worker.item + ctas, .backwards = sawtooth && !worker.backwards};
      }
      if (!any) return;
    }
  }

  template <class Visit>
  void for_pairs(Visit visit) const {
    for (int64_t step = 0; step < pattern_.steps; ++step)
      for (int64_t pair = 0; pair < per_half_; ++pair) visit(step, pair);
  }

  /// Pairs are dealt out to lanes; group 0 of each lane leads. `fresh` is the lane's newest tile.
  template <class Visit>
  void for_lanes(Visit visit) const {
    for_pairs([&](int64_t step, int64_t pair) {
      const int64_t lane = pair % pattern_.lanes;
      visit(step, pair, pair / pattern_.lanes, step * pattern_.lanes + lane);
    });
  }

  void read(int64_t step, int64_t cta, int64_t tile) {
    if (tile < 0) return;  // a follower waits for what it follows
    order_.tiles[static_cast<size_t>(step * 2 * per_half_ + cta)] =
        static_cast<int32_t>(tile % ring_);
  }
  void read_pair(int64_t step, int64_t pair, int64_t tile) {
    read(step, pair, tile);
    read(step, per_half_ + pair, tile);
  }
  int64_t any_place() { return static_cast<int64_t>(random_() % static_cast<uint64_t>(ring_)); }

  const LockstepPattern& pattern_;
  int64_t per_half_;
  int64_t ring_;
  std::mt19937_64 random_{static_cast<uint64_t>(pattern_.seed)};
  LockstepOrder order_;
};

void check(const LockstepPattern& p, int64_t per_half) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw std::invalid_argument("lockstep: " + what);
  };
  require(per_half > 0, "no CTAs: per_half must be at least 1");
  require(p.mib > 0, std::to_string(p.mib) + " MiB; allowed is at least 1");
  require(p.lanes > 0 && p.lanes <= per_half,
          std::to_string(p.lanes) + " lanes; allowed are 1 to " + std::to_string(per_half));
  require(p.readers > 0, std::to_string(p.readers) + " readers; allowed is at least 1");
  require(p.distance_mib >= 0 && p.second_mib >= 0 && p.steps >= 0 && p.pace_us >= 0,
          "distances, steps and pace must not be negative");
  require(p.family != LockstepFamily::hot ||
              (p.distance_mib > 0 && p.distance_mib < p.mib && p.second_mib > 0),
          "hot needs distance_mib from 1 to below mib, and second_mib from 1");
}

}  // namespace

int64_t LockstepOrder::buffer_tiles() const {
  return tiles.empty() ? 0 : *std::ranges::max_element(tiles) + int64_t{1};
}

int64_t LockstepOrder::reads() const {
  return static_cast<int64_t>(tiles.size()) - std::ranges::count(tiles, none);
}

int64_t LockstepOrder::table_sectors() const {
  return static_cast<int64_t>(tiles.size() * sizeof(int32_t)) / sector_bytes;
}

LockstepOrder lockstep_order(const LockstepPattern& pattern, int64_t per_half) {
  check(pattern, per_half);
  return Orders(pattern, per_half).filled();
}

}  // namespace sawtooth::experiments
