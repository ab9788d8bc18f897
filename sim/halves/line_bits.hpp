// A bit a line, and those of up to 64 neighbours at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/halves/piece.hpp"

namespace sawtooth::sim {

class LineBits {
 public:
  /// Makes room for lines below `lines`.
  void grow(size_t lines) {
    // from() reads two words, the second of which may have no line.
    words_.resize(std::max(words_.size(), lines / bits + 2));
  }

  bool of(uint32_t line) const { return (words_[line / bits] >> line % bits & 1) != 0; }
  void set(uint32_t line) { words_[line / bits] |= uint64_t{1} << line % bits; }
  void clear(uint32_t line) { words_[line / bits] &= ~(uint64_t{1} << line % bits); }

  /// Bit i is that of line first + i.
  PieceMask from(uint32_t first) const {
    const uint64_t* const words = &words_[first / bits];
    const uint32_t shift = first % bits;
    return words[0] >> shift | words[1] << 1 << (bits - 1 - shift);
  }

 private:
  static constexpr uint32_t bits = pieces_a_mask;
  std::vector<uint64_t> words_;
};

}  // namespace sawtooth::sim
