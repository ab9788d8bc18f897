// A set-associative cache written from its definition, one line at a time, for small tests: nothing
// is shared with sim/sets but the names of policies and priorities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/sets/parameters.hpp"

namespace sawtooth::tests {

class NaiveSets {
 public:
  NaiveSets(size_t ways, size_t persisting_ways, sim::SetPolicy policy, uint64_t seed)
      : ways_(ways), persisting_ways_(persisting_ways), policy_(policy), seed_(seed) {}

  /// opt looks here for the next use: all accesses to come, the present one first.
  std::vector<uint64_t> future;

  /// Whether the line was there.
  bool access(uint64_t line, uint32_t set, sim::Priority priority) {
    ++now_;
    if (priority == sim::Priority::evict_last && persisting_ways_ == 0)
      priority = sim::Priority::normal;
    std::vector<std::optional<Line>>& ways = sets_[set];
    ways.resize(ways_);
    for (size_t way = 0; way < ways_; ++way) {
      if (!ways[way] || ways[way]->number != line) continue;
      ways[way]->used = now_;
      point_away(set, way);
      return true;
    }
    const size_t way = way_for(ways, set, priority);
    ways[way] = Line{line, now_, now_, priority};
    point_away(set, way);
    return false;
  }

 private:
  struct Line {
    uint64_t number;
    int64_t used;
    int64_t filled;
    sim::Priority priority;
  };
  using Ways = std::vector<std::optional<Line>>;

  size_t way_for(const Ways& ways, uint32_t set, sim::Priority priority) {
    const auto count = [&](sim::Priority kind) {
      return static_cast<size_t>(std::count_if(
          ways.begin(), ways.end(), [&](const auto& w) { return w && w->priority == kind; }));
    };
    sim::Priority leaving = sim::Priority::evict_last;
    if (priority != sim::Priority::evict_last || count(leaving) < persisting_ways_) {
      for (size_t way = 0; way < ways_; ++way)
        if (!ways[way]) return way;
      if (count(sim::Priority::normal) > 0) leaving = sim::Priority::normal;
      if (count(sim::Priority::evict_first) > 0) leaving = sim::Priority::evict_first;
    }
    std::vector<size_t> candidates;
    for (size_t way = 0; way < ways_; ++way)
      if (ways[way] && ways[way]->priority == leaving) candidates.push_back(way);
    const auto least = [&](auto value) {
      return *std::min_element(candidates.begin(), candidates.end(), [&](size_t a, size_t b) {
        return value(*ways[a]) < value(*ways[b]);
      });
    };
    switch (policy_) {
      case sim::SetPolicy::lru:
        return least([](const Line& line) { return line.used; });
      case sim::SetPolicy::fifo:
        return least([](const Line& line) { return line.filled; });
      case sim::SetPolicy::opt:
        return least([&](const Line& line) {
          return -(std::find(future.begin(), future.end(), line.number) - future.begin());
        });
      case sim::SetPolicy::random:
        return candidates[mix_seed(mix_seed(seed_, set), drawn_[set]++) % candidates.size()];
      case sim::SetPolicy::plru:
        return pointed_at(set, 0, ways_, candidates);
    }
    return 0;
  }

  // The half of ways [first, first + count) that was used last; the lower one at the start is not.
  void point_away(uint32_t set, size_t way) {
    for (size_t first = 0, count = ways_; count > 1;) {
      count /= 2;
      const bool upper = way >= first + count;
      upper_used_last_[{set, first, count}] = upper;
      if (upper) first += count;
    }
  }
  size_t pointed_at(uint32_t set, size_t first, size_t count, const std::vector<size_t>& allowed) {
    if (count == 1) return first;
    count /= 2;
    const auto node = upper_used_last_.find({set, first, count});
    const bool never_used = node == upper_used_last_.end();
    bool upper = !never_used && !node->second;
    const auto any_in = [&](size_t begin) {
      return std::any_of(allowed.begin(), allowed.end(),
                         [&](size_t way) { return way >= begin && way < begin + count; });
    };
    if (!any_in(first + (upper ? count : 0))) upper = !upper;
    return pointed_at(set, first + (upper ? count : 0), count, allowed);
  }

  size_t ways_;
  size_t persisting_ways_;
  sim::SetPolicy policy_;
  uint64_t seed_;
  std::map<uint32_t, Ways> sets_;
  std::map<uint32_t, uint64_t> drawn_;
  std::map<std::tuple<uint32_t, size_t, size_t>, bool> upper_used_last_;
  int64_t now_ = 0;
};

}  // namespace sawtooth::tests
