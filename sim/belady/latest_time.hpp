// A set of times that finds its latest in a few steps: a tree of bits, 64 children a node (van Emde
// Boas' idea with word-sized nodes).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

class LatestTime {
 public:
  /// For times below `size`.
  explicit LatestTime(size_t size) {
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

  bool empty() const { return levels_.back().front() == 0; }

  /// Of a set that is not empty.
  uint32_t latest() const {
    uint32_t place = 0;
    for (size_t level = levels_.size(); level-- > 0;) {
      place = place * word_bits + static_cast<uint32_t>(std::bit_width(levels_[level][place])) - 1;
    }
    return place;
  }

 private:
  static constexpr uint32_t word_bits = 64;
  std::vector<std::vector<uint64_t>> levels_;  // the times, then which words below are not 0
};

}  // namespace sawtooth::sim
