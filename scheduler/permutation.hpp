// A seeded permutation of [0, n) in O(1) memory: a four-round Feistel network over the next even
// number of bits, walked along its cycle until it lands inside the range (Black and Rogaway,
// "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, section 4).
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"

namespace sawtooth {

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection of 64-bit words.
SAWTOOTH_HD constexpr uint64_t mix64(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

/// A seed for stream `stream`; the increment is SplitMix64's golden gamma.
SAWTOOTH_HD constexpr uint64_t mix_seed(uint64_t seed, uint64_t stream) {
  return mix64(seed + 0x9e3779b97f4a7c15ULL * (stream + 1));
}

/// The 53 highest bits of a word, as many as a double holds, as a number in [0, 1).
constexpr double unit_interval(uint64_t word) {
  return double(word >> 11) * 0x1p-53;
}

/// Image of `value` under the permutation of [0, size) that `key` selects; 0 <= value < size.
SAWTOOTH_HD constexpr int64_t permuted(int64_t value, int64_t size, uint64_t key) {
  constexpr int rounds = 4;
  int half_bits = 1;
  while ((uint64_t(1) << (2 * half_bits)) < uint64_t(size)) ++half_bits;
  const uint64_t half_mask = (uint64_t(1) << half_bits) - 1;
  uint64_t word = uint64_t(value);
  do {
    uint64_t left = word >> half_bits;
    uint64_t right = word & half_mask;
    for (int round = 0; round < rounds; ++round) {
      const uint64_t next = left ^ (mix64(key + right * rounds + uint64_t(round)) & half_mask);
      left = right;
      right = next;
    }
    word = left << half_bits | right;
  } while (word >= uint64_t(size));
  return int64_t(word);
}

}  // namespace sawtooth
