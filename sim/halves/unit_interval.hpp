// Chance from a hashed word.
#pragma once

#include <cstdint>

namespace sawtooth::sim {

/// The 53 highest bits of a word, as many as a double holds, as a number in [0, 1).
constexpr double unit_interval(uint64_t word) {
  return double(word >> 11) * 0x1p-53;
}

}  // namespace sawtooth::sim
