// What one visit adds to a histogram of stack distances.
#pragma once

#include "sim/lru/distance_histogram.hpp"
#include "sim/lru/stack_distance.hpp"

namespace sawtooth::sim {

/// `others` is what StackDistance::visit() returned for it, `size` that of its atom.
inline void count_visit(DistanceHistogram& histogram, const Visit& visit, const AtomSize& size,
                        int64_t others) {
  DistanceClass& distances = histogram.of(static_cast<Tensor>(size.tensor), visit.access);
  if (others == StackDistance::cold) {
    distances.add_cold(size.sectors);
  } else {
    distances.add(line_distance(others, size.lines, 0, false), size.sectors);
  }
  if (visit.times > 1) {
    distances.add(line_distance(0, size.lines, 0, false),
                  int64_t{size.sectors} * (visit.times - 1));
  }
}

}  // namespace sawtooth::sim
