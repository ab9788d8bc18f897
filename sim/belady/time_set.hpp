// A set of times that finds the latest before any other in a few steps: a tree of bits, 64 children
// a node (van Emde Boas' idea with word-sized nodes).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

class TimeSet {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  /// For times below `size`.
  explicit TimeSet(size_t size) {
    do {
      size = (size + word_bits - 1) / word_bits;
      levels_.emplace_back(size == 0 ? 1 : size, 0);
    } while (size > 1);
  }

  void insert(uint32_t time) {
    for (std::vector<uint64_t>& level : levels_) {
      level[time / word_bits] |= uint64_t{1} << (time % word_bits);
      time /= word_bits;
    }
  }

  void erase(uint32_t time) {
    for (std::vector<uint64_t>& level : levels_) {
      uint64_t& word = level[time / word_bits];
      word &= ~(uint64_t{1} << (time % word_bits));
      if (word != 0) return;
      time /= word_bits;
    }
  }

  /// The latest time below `end`, which is below `size`, or none.
  uint32_t latest_before(uint32_t end) const {
    for (size_t level = 0; level < levels_.size(); ++level, end /= word_bits) {
      const uint64_t earlier = (uint64_t{1} << (end % word_bits)) - 1;
      const uint64_t bits = levels_[level][end / word_bits] & earlier;
      if (bits == 0) continue;
      uint32_t place = end / word_bits * word_bits + last_bit(bits);
      while (level-- > 0) place = place * word_bits + last_bit(levels_[level][place]);
      return place;
    }
    return none;
  }

 private:
  static constexpr uint32_t word_bits = 64;
  static uint32_t last_bit(uint64_t bits) {
    return static_cast<uint32_t>(std::bit_width(bits)) - 1;
  }

  std::vector<std::vector<uint64_t>> levels_;  // the times, then which words below are not 0
};

}  // namespace sawtooth::sim
