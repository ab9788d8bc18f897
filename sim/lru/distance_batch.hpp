// Visits go through the stack of distances many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/lru/stack_distance.hpp"

namespace sawtooth::sim {

/// `Visit` has the atom that it visits.
template <class Visit>
class DistanceBatch {
 public:
  DistanceBatch() {
    visits_.reserve(visits_at_a_time);
    visited_.reserve(visits_at_a_time);
    distances_.resize(visits_at_a_time);
  }

  /// Keeps `visit`, and once there are enough of them flushes.
  template <class Count>
  void add(const Visit& visit, StackDistance& stack, Count count) {
    visits_.push_back(visit);
    visited_.push_back(visit.atom);
    if (visits_.size() == visits_at_a_time) flush(stack, count);
  }

  /// Calls count(visit, distance in `stack`) for all that wait, in their order.
  template <class Count>
  void flush(StackDistance& stack, Count count) {
    stack.visit(visited_, distances_);
    for (size_t i = 0; i < visits_.size(); ++i) count(visits_[i], distances_[i]);
    visits_.clear();
    visited_.clear();
  }

 private:
  // Enough to fetch ahead, few enough for the first-level cache.
  static constexpr size_t visits_at_a_time = 512;

  std::vector<Visit> visits_;
  std::vector<AtomId> visited_;
  std::vector<int64_t> distances_;
};

}  // namespace sawtooth::sim
