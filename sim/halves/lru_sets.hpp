// Sets under LRU whose hits cost next to nothing: a hit writes down when it was, and a miss looks
// for the line that was used longest ago. The lines of a set stand in a ring, each behind all that
// were used before it; those that were used again since they got their place are marked. The first
// one leaves, unless it is marked: then it gets a new place, and the next one is the first. So a
// line is looked at when it may have to leave, whatever was used in the meantime.
//
// Of a set's lines in the order of their last use, only the first `dirty_ways` may be dirty: an
// older line is written back and stays. Whether a dirty line grew old is found when it is next
// touched, leaves, or is asked for by settle(). A line that a reduction was the last to change may
// be dirty at any age; when it would leave, it is written back and stays, and the oldest line that
// is not dirty from a reduction leaves.
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
    const bool all_held = (which & ~marked(&Marks::held, first)) == 0;
    const bool all_clean = !changes(access) && (which & marked(&Marks::dirty, first)) == 0;
    if (!all_held || !all_clean) return touch_each(set_of, first, which, access);
    if ((which & (which + 1)) == 0) {  // from the first line on
      std::fill_n(&last_use_[first], std::bit_width(which), uses_);
    } else {
      for_each_piece(which, [&](uint32_t i) { last_use_[first + i] = uses_; });
    }
    add(&Marks::used_again, first, which);
    return which;
  }

  /// Empties the way of a clean `line`, if it has one.
  void drop(const uint16_t* set_of, uint32_t line);

  bool holds(uint32_t line) const { return is(&Marks::held, line); }

  /// Writes back the dirty lines that have grown old.
  void settle(const uint16_t* set_of);

  /// function(line) for all that were written back since the last call.
  template <class Function>
  void take_written_back(Function function) {
    for (const uint32_t line : written_back_) function(line);
    written_back_.clear();
  }

 private:
  // Of 64 lines each.
  struct Marks {
    uint64_t held = 0;
    uint64_t used_again = 0;  // since it got its place in the ring
    uint64_t dirty = 0;
    uint64_t reduced = 0;  // the last change was a reduction
  };
  using Mark = uint64_t Marks::*;

  PieceMask marked(Mark mark, uint32_t first) const {
    const Marks* const marks = &marks_[first / 64];
    const uint32_t shift = first % 64;
    return shift == 0 ? marks->*mark : marks[0].*mark >> shift | marks[1].*mark << (64 - shift);
  }
  void add(Mark mark, uint32_t first, PieceMask which) {
    Marks* const marks = &marks_[first / 64];
    const uint32_t shift = first % 64;
    marks[0].*mark |= which << shift;
    if (shift != 0) marks[1].*mark |= which >> (64 - shift);
  }
  bool is(Mark mark, uint32_t line) const { return marks_[line / 64].*mark >> line % 64 & 1; }
  void mark(Mark mark, uint32_t line, bool to) {
    uint64_t& word = marks_[line / 64].*mark;
    word = (word & ~(uint64_t{1} << line % 64)) | uint64_t{to} << line % 64;
  }

  // The ring of a set begins at `first` of its ways. Empty ones come before all others.
  struct Ring {
    uint16_t first = 0;
    uint16_t ways = 0;

    uint32_t after(uint32_t way) const { return way + 1 == ways ? 0 : way + 1; }
    uint32_t before(uint32_t way) const { return (way == 0 ? ways : way) - 1u; }
  };
  uint32_t* lines_of(uint32_t set) { return &lines_[size_t{set} * ways_]; }
  // Of lines touched together the earlier one is the older.
  uint64_t last_use(uint32_t line) const { return uint64_t{last_use_[line]} << 32 | line; }

  PieceMask touch_each(const uint16_t* set_of, uint32_t first, PieceMask which, Access access);
  void take(uint32_t set, uint32_t line);
  void prepare_first(uint32_t set);
  void spare_reduced(uint32_t set);
  void take_out(uint32_t set, uint32_t line);
  void write_back_if_old(uint32_t set, uint32_t line);
  void write_back(uint32_t line);
  void count_uses_anew();

  uint32_t ways_;
  uint32_t dirty_ways_;
  uint32_t uses_;
  std::vector<uint32_t> lines_;     // of each way, set after set, or no_line
  std::vector<Ring> rings_;         // of each set
  std::vector<uint32_t> last_use_;  // of each line
  std::vector<Marks> marks_;        // and one more
  std::vector<uint32_t> written_back_;
};

}  // namespace sawtooth::sim
