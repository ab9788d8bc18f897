// Noise of the timed wavefront.
#pragma once

#include <cmath>
#include <cstdint>

#include "scheduler/permutation.hpp"

namespace sawtooth::sim {

/// A triangular distribution of mean 0 and standard deviation 1; moves `stream` on.
inline double noise(uint64_t& stream) {
  constexpr double scale = 2.449489742783178;  // sqrt(6)
  constexpr double unit = 1.0 / 4294967296.0;
  stream = mix_seed(stream, 0);
  return scale * (double(stream >> 32) * unit + double(stream & 0xffffffffU) * unit - 1);
}

/// Evenly from 0 to 1; moves `stream` on.
inline double uniform(uint64_t& stream) {
  constexpr double unit = 1.0 / 9007199254740992.0;  // 2^-53
  stream = mix_seed(stream, 0);
  return double(stream >> 11) * unit;
}

/// An exponential distribution of mean 1; moves `stream` on.
inline double waiting_time(uint64_t& stream) {
  constexpr double unit = 1.0 / 9007199254740992.0;  // 2^-53
  stream = mix_seed(stream, 0);
  return -std::log((double(stream >> 11) + 0.5) * unit);
}

}  // namespace sawtooth::sim
