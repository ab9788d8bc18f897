// Sets under any policy of sim/sets/policies.hpp, with priorities.
//
// A line that comes in takes an empty way first. In a full set one of the lowest priority that is
// there leaves, and the policy says which. A line of evict_last that comes where its kind holds the
// whole set-aside replaces one of its kind: a persisting footprint above the set-aside thrashes in
// it (CUDA C++ Programming Guide, "L2 Policy for Persisting Accesses"). Without a set-aside
// evict_last is normal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/sets/set_engine.hpp"

namespace sawtooth::sim {

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
    for (size_t i = 0; i < visits.size(); ++i) {
      uint32_t missed = 0;
      const auto [begin, end] = partition_.parts_of(visits[i]);
      for (uint32_t part = begin; part < end; ++part) {
        const SetPartition::Part& line = partition_.parts()[part];
        if (!access(line.set_class, part, priority_of(visits[i]))) missed += line.sectors;
      }
      missed_sectors[i] = missed;
    }
  }

  void mark_held(std::span<uint8_t> held) const override {
    for (size_t set = 0; set < sets_.size(); ++set) {
      for (uint32_t way = 0; way < sets_[set].filled; ++way) held[tags_[set * ways_ + way]] = 1;
    }
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
    if (way == state.filled) {
      ++state.filled;
    } else if (held == Priority::evict_last) {
      --state.last;
    }
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
