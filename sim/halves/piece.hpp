// Pieces of an atom: lines of one home half that L2 keeps or loses together.
//
// Both stores of a half (two_halves.hpp, sampled_sets.hpp) number the pieces of an atom from 0 in
// the order of its lines, and speak of up to 64 neighbours at a time: bit i of a mask is piece
// first + i. A store has
//   pieces(atom)                                          how many there are
//   at_home(atom, first, home)                            those with this home
//   units(atom, first, which)                             what these stand for
//   independent(atom, first, which)                       the first ones, in as many sets: their
//                                                         order does not matter
//   touch(half, atom, first, which, access, written_back) makes them the most recent ones of
//                                                         `half`, in their order; returns which it
//                                                         held, and calls written_back(atom, units)
//                                                         for dirty ones that leave or grow old
//   held(half, atom, first, which)                        which it holds, untouched
//   drop(half, atom, first, which, written_back)          forgets clean ones
//   settle(written_back)                                  calls it for those that grew old
//                                                         or left unseen
//   begin(run)                                            gives atoms their place in memory; those
//                                                         that had these numbers are not held
//   holds(atom)                                           whether a half holds any of it
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

/// Sectors are counted in halves of one, so that an atom splits evenly between two homes.
inline constexpr int64_t units_per_sector = 2;

constexpr double sectors_of(int64_t units) {
  return double(units) / units_per_sector;
}

using PieceMask = uint64_t;
inline constexpr uint32_t pieces_a_mask = 64;

/// The first `count` of a mask's pieces, or all of them.
constexpr PieceMask first_pieces(uint32_t count) {
  return count >= pieces_a_mask ? ~PieceMask{0} : (PieceMask{1} << count) - 1;
}

/// function(i) for every piece of `which`, in their order.
template <class Function>
constexpr void for_each_piece(PieceMask which, Function function) {
  for (; which != 0; which &= which - 1) function(static_cast<uint32_t>(std::countr_zero(which)));
}

// A bit a line, and those of up to 64 neighbours at once.

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
