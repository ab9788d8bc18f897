// Sets under LRU whose hits cost next to nothing: a hit writes down when it was, and a miss looks
// for the line that was used longest ago. The lines of a set stand in a ring, in the order of the
// last uses that it knows of. The first one leaves, unless it has been used since: then it moves to
// its place among the others, and the next one is the first. So every use is looked at once at
// most, when it matters.
//
// Of a set's lines in the order of their last use, only the first `dirty_ways` may be dirty: an
// older line is written back and stays. Whether a dirty line grew old is found when it is next
// touched, leaves, or is asked for by settle(). A line that a reduction was the last to change may
// be dirty at any age.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/halves/piece.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

class LruSets {
 public:
  /// Lines are below this.
  static constexpr uint32_t no_line = UINT32_MAX;

  /// The first `reduced_sets` sets have a way less; dirty_ways is 1 to `ways`. `uses` counts
  /// touches from there on.
  LruSets(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
          uint32_t uses = 0);

  /// Makes room for lines below `lines`; set_of[line] is the set of each, in all calls below.
  void grow(size_t lines);

  /// Touches the lines first + i for each i of `which`, in their order. Returns which were held.
  PieceMask touch(const uint16_t* set_of, uint32_t first, PieceMask which, Access access) {
    if (++uses_ == std::numeric_limits<uint32_t>::max()) count_uses_anew();
    const bool all_clean = !changes(access) && (bits(dirty_, first) & which) == 0;
    if (!all_clean || (which & ~bits(held_, first)) != 0) {
      return touch_each(set_of, first, which, access);
    }
    if ((which & (which + 1)) == 0) {  // from the first line on
      std::fill_n(&last_use_[first], std::bit_width(which), uses_);
    } else {
      for_each_piece(which, [&](uint32_t i) { last_use_[first + i] = uses_; });
    }
    return which;
  }

  /// Empties the way of a clean `line`, if it has one.
  void drop(const uint16_t* set_of, uint32_t line);

  bool holds(uint32_t line) const { return bits(held_, line) & 1; }

  /// Writes back the dirty lines that have grown old.
  void settle(const uint16_t* set_of);

  /// function(line) for all that were written back since the last call.
  template <class Function>
  void take_written_back(Function function) {
    for (const uint32_t line : written_back_) function(line);
    written_back_.clear();
  }

 private:
  // A use and its line, in one number: of lines touched together the earlier one is the older.
  using Use = uint64_t;
  static Use use(uint32_t when, uint32_t line) { return Use{when} << 32 | line; }
  static uint32_t line_of(Use use) { return static_cast<uint32_t>(use); }
  static constexpr Use empty = no_line;  // before all others

  static PieceMask bits(const std::vector<uint64_t>& lines, uint32_t first) {
    const uint64_t* const word = &lines[first / 64];
    const uint32_t shift = first % 64;
    return shift == 0 ? *word : word[0] >> shift | word[1] << (64 - shift);
  }
  static void mark(std::vector<uint64_t>& lines, uint32_t line, bool to) {
    if ((bits(lines, line) & 1) != (to ? 1 : 0)) flip(lines, line);
  }
  static void flip(std::vector<uint64_t>& lines, uint32_t line) {
    lines[line / 64] ^= uint64_t{1} << line % 64;
  }

  // The ring of a set begins at `first` of its ways.
  struct Ring {
    Use* ways;
    uint32_t count;
    uint32_t& first;

    uint32_t after(uint32_t way) const { return way + 1 == count ? 0 : way + 1; }
  };
  Ring ring(uint32_t set) { return {&known_[size_t{set} * ways_], ways_of(set), first_[set]}; }
  uint32_t ways_of(uint32_t set) const { return ways_ - (set < reduced_sets_ ? 1 : 0); }
  Use last_use(uint32_t line) const { return use(last_use_[line], line); }

  PieceMask touch_each(const uint16_t* set_of, uint32_t first, PieceMask which, Access access);
  bool touch_one(uint32_t set, uint32_t line, Access access);
  Use& oldest(Ring ring);
  void write_back_if_old(uint32_t set, uint32_t line);
  void write_back(uint32_t line);
  void count_uses_anew();

  uint32_t ways_;
  uint32_t dirty_ways_;
  uint32_t reduced_sets_;
  uint32_t uses_;
  std::vector<Use> known_;          // of each way, set after set: none is later than the last one
  std::vector<uint32_t> first_;     // way of each set
  std::vector<uint32_t> last_use_;  // of each line
  std::vector<uint64_t> held_;      // a bit for each line, and a word more
  std::vector<uint64_t> dirty_;     // likewise
  std::vector<uint64_t> reduced_;   // likewise: the last change was a reduction
  std::vector<uint32_t> written_back_;
};

}  // namespace sawtooth::sim
