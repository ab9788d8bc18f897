// Integer helpers that the standard library does not offer on a device.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"

namespace sawtooth {

/// Smallest q with q * divisor >= value; value >= 0, divisor > 0.
SAWTOOTH_HD constexpr int64_t ceil_div(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

SAWTOOTH_HD constexpr int64_t min_of(int64_t a, int64_t b) {
  return b < a ? b : a;
}
SAWTOOTH_HD constexpr int64_t max_of(int64_t a, int64_t b) {
  return a < b ? b : a;
}

/// value moved into [low, high]; low <= high.
SAWTOOTH_HD constexpr int64_t clamp_to(int64_t value, int64_t low, int64_t high) {
  return max_of(low, min_of(value, high));
}

/// Sum of (step * i + first) / divisor, rounded down, over i in [0, count), in logarithmic time:
/// Euclid's algorithm on the lattice points below a line. step, first >= 0, divisor > 0.
constexpr int64_t floor_sum(int64_t count, int64_t step, int64_t first, int64_t divisor) {
  int64_t sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (step / divisor) + count * (first / divisor);
    step %= divisor;
    const int64_t top = step * count + first % divisor;
    count = top / divisor;
    first = top % divisor;
    const int64_t turned = step;
    step = divisor;
    divisor = turned;
  }
  return sum;
}

}  // namespace sawtooth
