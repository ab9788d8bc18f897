// Set bits of a word: what compilers turn into one instruction where there is one, while
// std::popcount calls a library in builds for any x86 CPU.
#pragma once

#include <cstdint>

namespace sawtooth::sim {

/// Knuth, TAOCP 4A, 7.1.3.
[[gnu::always_inline]] constexpr uint32_t count_bits(uint64_t bits) {
  constexpr uint64_t pairs = 0x5555555555555555, fours = 0x3333333333333333;
  constexpr uint64_t bytes = 0x0f0f0f0f0f0f0f0f, ones = 0x0101010101010101;
  bits -= bits >> 1 & pairs;
  bits = (bits & fours) + (bits >> 2 & fours);
  return static_cast<uint32_t>((((bits + (bits >> 4)) & bytes) * ones) >> 56);
}

}  // namespace sawtooth::sim
