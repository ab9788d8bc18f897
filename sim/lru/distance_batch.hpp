// Visits go through the stack of distances many at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/lru/stack_distance.hpp"

namespace sawtooth::sim {

/// `Visit` has the atom that it visits.
template <class Visit>
class DistanceBatch {
 public:
  /// Keeps `visit`, and once there are enough of them flushes.
  template <class Count>
  void add(const Visit& visit, StackDistance& stack, Count count) {
    visits_[size_] = visit;
    visited_[size_] = visit.atom;
    if (++size_ == visits_at_a_time) flush(stack, count);
  }

  /// Whether no visit waits.
  bool empty() const { return size_ == 0; }

  /// Calls count(visit, distance in `stack`) for all that wait, in their order.
  template <class Count>
  void flush(StackDistance& stack, Count count) {
    stack.visit(std::span(visited_).first(size_), distances_);
    for (size_t i = 0; i < size_; ++i) count(visits_[i], distances_[i]);
    size_ = 0;
  }

 private:
  // Enough to fetch ahead, few enough for the first-level cache.
  static constexpr size_t visits_at_a_time = 512;

  size_t size_ = 0;
  std::array<Visit, visits_at_a_time> visits_;
  std::array<AtomId, visits_at_a_time> visited_;
  std::array<int64_t, visits_at_a_time> distances_;
};

}  // namespace sawtooth::sim
