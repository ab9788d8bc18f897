// What a point is expected to take, before it is simulated: a rough model, good enough to say
// whether a sweep takes minutes or days, and which of two points is the longer one.
#pragma once

#include <cstdint>

#include "experiments/sawtooth/inputs/point.hpp"

namespace sawtooth::experiments {

struct PointCost {
  double seconds = 0;  // of one core
  double bytes = 0;    // of memory
};

/// Nothing for a refused point.
PointCost expected_cost(const Point& point);

}  // namespace sawtooth::experiments
