// Sets under a replacement policy: to add a policy, write its class and name it in parameters.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/sets/parameters.hpp"
#include "sim/sets/partition.hpp"

namespace sawtooth::sim {

/// The way that was touched (LRU) or filled (FIFO) longest ago.
template <bool hits_count>
class OldestPolicy {
 public:
  OldestPolicy(uint32_t sets, uint32_t ways) : ways_(ways), stamps_(size_t{sets} * ways, 0) {}

  void touch(uint32_t set, uint32_t way) {
    if constexpr (hits_count) fill(set, way);
  }
  void fill(uint32_t set, uint32_t way) { stamps_[size_t{set} * ways_ + way] = ++clock_; }

  template <class MayLeave>
  uint32_t victim(uint32_t set, uint32_t ways, MayLeave may_leave) const {
    uint32_t oldest = ways;
    for (uint32_t way = 0; way < ways; ++way)
      if (may_leave(way) && (oldest == ways || stamp(set, way) < stamp(set, oldest))) oldest = way;
    return oldest;
  }

 private:
  uint64_t stamp(uint32_t set, uint32_t way) const { return stamps_[size_t{set} * ways_ + way]; }

  uint32_t ways_;
  std::vector<uint64_t> stamps_;
  uint64_t clock_ = 0;
};
using LruPolicy = OldestPolicy<true>;
using FifoPolicy = OldestPolicy<false>;

/// Tree-PLRU: a bit at each node of a binary tree over the ways points away from the half that was
/// used last (Embedded Pentium Processor Family Developer's Manual, 1998, figure 3-7). Where the
/// half that a bit points at has no way that may leave, the other half is taken.
class TreePlruPolicy {
 public:
  /// `ways` is a power of two.
  TreePlruPolicy(uint32_t sets, uint32_t ways)
      : ways_(ways), points_right_(size_t{sets} * ways, 0) {}

  void touch(uint32_t set, uint32_t way) {
    uint8_t* tree = &points_right_[size_t{set} * ways_];
    uint32_t node = 1;
    for (uint32_t half = ways_ / 2; half > 0; half /= 2) {
      const bool is_right = (way & half) != 0;
      tree[node] = is_right ? 0 : 1;
      node = 2 * node + (is_right ? 1 : 0);
    }
  }
  void fill(uint32_t set, uint32_t way) { touch(set, way); }

  template <class MayLeave>
  uint32_t victim(uint32_t set, uint32_t ways, MayLeave may_leave) const {
    const uint8_t* tree = &points_right_[size_t{set} * ways_];
    const auto any = [&](uint32_t first, uint32_t count) {
      for (uint32_t way = first; way < first + count; ++way)
        if (may_leave(way)) return true;
      return false;
    };
    uint32_t node = 1;
    uint32_t first = 0;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
      bool right = tree[node] != 0;
      if (!any(first + (right ? half : 0), half)) right = !right;
      if (right) first += half;
      node = 2 * node + (right ? 1 : 0);
    }
    return first;
  }

 private:
  uint32_t ways_;
  std::vector<uint8_t> points_right_;  // node 1 is the root, node n has children 2n and 2n + 1
};

/// Each set draws from a sequence of its own: the n-th victim of set s is, of the k ways that may
/// leave in ascending order, number mix_seed(mix_seed(seed, s), n) mod k.
class RandomPolicy {
 public:
  RandomPolicy(uint32_t sets, uint64_t seed) : seed_(seed), drawn_(sets, 0) {}

  void touch(uint32_t, uint32_t) {}
  void fill(uint32_t, uint32_t) {}

  template <class MayLeave>
  uint32_t victim(uint32_t set, uint32_t ways, MayLeave may_leave) {
    uint32_t candidates = 0;
    for (uint32_t way = 0; way < ways; ++way) candidates += may_leave(way) ? 1 : 0;
    uint64_t rank = mix_seed(mix_seed(seed_, set), drawn_[set]++) % candidates;
    uint32_t way = 0;
    while (!may_leave(way) || rank-- > 0) ++way;
    return way;
  }

 private:
  uint64_t seed_;
  std::vector<uint64_t> drawn_;
};

/// make(policy) for a policy other than opt, of `sets` sets. Throws std::invalid_argument for opt.
template <class Make>
auto with_policy(SetPolicy policy, uint32_t sets, uint32_t ways, uint64_t seed, Make make) {
  switch (policy) {
    case SetPolicy::lru:
      return make(LruPolicy(sets, ways));
    case SetPolicy::fifo:
      return make(FifoPolicy(sets, ways));
    case SetPolicy::plru:
      return make(TreePlruPolicy(sets, ways));
    case SetPolicy::random:
      return make(RandomPolicy(sets, seed));
    case SetPolicy::opt:
      break;
  }
  throw std::invalid_argument("set engine: opt is no choice at a miss, see OptSets");
}

/// An engine part by part: `access(class, part, atom)` says whether a part hits in the set of its
/// class.
template <class Access>
void visit_parts(const SetPartition& partition, std::span<const AtomId> visits,
                 std::span<uint32_t> missed_sectors, Access access) {
  for (size_t i = 0; i < visits.size(); ++i) {
    uint32_t missed = 0;
    const auto [begin, end] = partition.parts_of(visits[i]);
    for (uint32_t part = begin; part < end; ++part) {
      const SetPartition::Part& line = partition.parts()[part];
      if (!access(line.set_class, part, visits[i])) missed += line.sectors;
    }
    missed_sectors[i] = missed;
  }
}

// Sets under any of these policies, with priorities.
//
// A line that comes in takes an empty way first. In a full set one of the lowest priority that is
// there leaves, and the policy says which. A line of evict_last that comes where its kind holds the
// whole set-aside replaces one of its kind: a persisting footprint above the set-aside thrashes in
// it (CUDA C++ Programming Guide, "L2 Policy for Persisting Accesses"). Without a set-aside
// evict_last is normal.

template <class Policy>
class PolicySets : public SetEngine {
 public:
  PolicySets(const SetPartition& partition, const SetGeometry& geometry, Policy policy,
             const std::vector<Priority>* priorities)
      : partition_(partition),
        ways_(static_cast<uint32_t>(geometry.ways)),
        most_last_(static_cast<uint32_t>(geometry.persisting_ways)),
        policy_(std::move(policy)),
        priority_of_(priorities),
        tags_(size_t{partition.classes()} * ways_, 0),
        priorities_(tags_.size(), Priority::normal),
        sets_(partition.classes()) {}

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override {
    visit_parts(partition_, visits, missed_sectors,
                [this](uint32_t set, uint32_t part, AtomId atom) {
                  return access(set, part, priority_of(atom));
                });
  }

  void mark_held(std::span<uint8_t> held) const override {
    for (size_t set = 0; set < sets_.size(); ++set)
      for (uint32_t way = 0; way < sets_[set].filled; ++way) held[tags_[set * ways_ + way]] = 1;
  }
  void forget(AtomId /*atom*/) override {}

 private:
  struct SetState {
    uint32_t filled = 0;  // ways, from way 0 on
    uint32_t last = 0;    // of these, held by evict_last
  };

  Priority priority_of(AtomId atom) const {
    if (priority_of_ == nullptr) return Priority::normal;
    const Priority priority = (*priority_of_)[atom];
    return priority == Priority::evict_last && most_last_ == 0 ? Priority::normal : priority;
  }

  bool access(uint32_t set, uint32_t tag, Priority priority) {
    SetState& state = sets_[set];
    uint32_t* tags = &tags_[size_t{set} * ways_];
    const uint32_t* end = tags + state.filled;
    const uint32_t* found = std::find<const uint32_t*>(tags, end, tag);
    if (found != end) {
      policy_.touch(set, static_cast<uint32_t>(found - tags));
      return true;
    }
    const uint32_t way = way_for(set, state, priority);
    Priority& held = priorities_[size_t{set} * ways_ + way];
    if (way == state.filled)
      ++state.filled;
    else if (held == Priority::evict_last)
      --state.last;
    if (priority == Priority::evict_last) ++state.last;
    held = priority;
    tags[way] = tag;
    policy_.fill(set, way);
    return false;
  }

  uint32_t way_for(uint32_t set, const SetState& state, Priority priority) {
    const Priority* held = &priorities_[size_t{set} * ways_];
    Priority leaving = Priority::evict_last;
    const bool own_kind = priority == Priority::evict_last && state.last == most_last_;
    if (!own_kind) {
      if (state.filled < ways_) return state.filled;
      leaving = *std::min_element(held, held + ways_);
    }
    return policy_.victim(set, ways_,
                          [&](uint32_t way) { return way < state.filled && held[way] == leaving; });
  }

  const SetPartition& partition_;
  uint32_t ways_;
  uint32_t most_last_;
  Policy policy_;
  const std::vector<Priority>* priority_of_;  // of an atom; null: all normal
  std::vector<uint32_t> tags_;                // part number, set after set
  std::vector<Priority> priorities_;          // of the lines in tags_
  std::vector<SetState> sets_;
};

}  // namespace sawtooth::sim
