// Replacement policies of a set, without priorities: which way leaves among those that may.
//
// A policy has  touch(set, way)  at a hit,  fill(set, way)  when a line is put in, and
// victim(set, ways, may_leave), where may_leave(way) is true for at least one way. It decides by
// what its own set saw, and RandomPolicy by the number of the set too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/sets/parameters.hpp"

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
    for (uint32_t way = 0; way < ways; ++way) {
      if (may_leave(way) && (oldest == ways || stamp(set, way) < stamp(set, oldest))) oldest = way;
    }
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
      for (uint32_t way = first; way < first + count; ++way) {
        if (may_leave(way)) return true;
      }
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

}  // namespace sawtooth::sim
