// Sets under LRU. A set is a row of entries, one a way: when its line was last used, and which way
// it is. The smallest entry is that of the line used longest ago, which leaves.
//
// A hit writes no entry. The first few wait in a list and are entered before the next line is
// placed. Where hits are more, they are only written down by line, and an entry that is the
// smallest is compared with what was written down of its line.
//
// Neighbouring lines are touched run by run (line_sets.hpp): of a run first those that are held,
// and then the others, so that nothing is decided line by line that a CPU would have to guess.
//
// Of a set's lines in the order of their last use, only the first `dirty_ways` may be dirty: an
// older line is written back and stays. Whether a dirty line grew old is found when it is next
// touched, leaves, or is asked for by settle(). A line that a reduction was the last to change may
// be dirty at any age; when it would leave, it is written back and stays, and the oldest line that
// is not dirty from a reduction leaves.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sim/halves/line_sets.hpp"
#include "sim/halves/piece.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

class LruSets {
  // Entries are in the order of the floats that have their bits, which the SIMD of any CPU has a
  // minimum of. Uses begin where floats are no longer subnormal.
  static constexpr uint32_t first_use = 0x00800000;
  static constexpr uint32_t last_use = 0x7f000000;
  static constexpr uint32_t no_way = 0x7f7fffff;  // behind all others
  static constexpr uint32_t row_ways = 16;
  struct alignas(64) Row {
    uint32_t ways[row_ways];
  };

 public:
  /// Lines are below this.
  static constexpr uint32_t no_line = INT32_MAX;
  /// With up to 16 ways, uses are counted anew when there are more.
  static constexpr uint32_t most_uses = (last_use - first_use) / row_ways;

  /// The first `reduced_sets` sets have a way less; dirty_ways is 1 to `ways`. `uses` counts uses
  /// of lines from there on.
  LruSets(uint32_t sets, uint32_t ways, uint32_t dirty_ways, uint32_t reduced_sets,
          uint32_t uses = 0);

  /// Makes room for lines below `lines`.
  void grow(size_t lines);

  /// Touches the lines first + i for each i of `which`, in their order. Returns which were held.
  PieceMask touch(const LineSets& sets, uint32_t first, PieceMask which, Access access) {
    if (now_ > last_use) count_uses_anew(sets);
    PieceMask found = which;
    const Look look = look_at(first, which);
    if (look.held != which || look.dirty != 0 || changes(access)) {
      found = touch_runs(sets, first, which, access);
    } else if (written_down_ || hits_ == waiting_.size()) {
      write_down(first, which);
    } else {
      waiting_[hits_++] = {first, which, now_};
    }
    now_ += static_cast<uint32_t>(std::bit_width(which)) << way_bits_;
    return found;
  }

  /// Empties the way of a clean `line`, if it has one.
  void drop(const LineSets& sets, uint32_t line);

  bool holds(uint32_t line) const { return states_[line] != missing; }

  /// Writes back the dirty lines that have grown old.
  void settle(const LineSets& sets);

  /// function(line) for all that were written back since the last call.
  template <class Function>
  void take_written_back(Function function) {
    for (const uint32_t line : written_back_) function(line);
    written_back_.clear();
  }

 private:
  // Of a line. `reduced`: the last change was a reduction.
  enum State : uint8_t { missing = 0, held = 1, dirty = 2, reduced = 4 };

  // In the slot of a dirty line, beside its number.
  static constexpr uint32_t changed = 1u << 31;

  struct Look {
    PieceMask held;
    uint64_t dirty;  // not 0: one of them or a neighbour is
  };
  Look look_at(uint32_t first, PieceMask which) const {
    static_assert(std::endian::native == std::endian::little);
    constexpr uint64_t each = 0x0101010101010101;
    Look look{0, 0};
    for (uint32_t i = 0; i < pieces_a_mask && which >> i != 0; i += 8) {
      uint64_t states = 0;
      std::memcpy(&states, &states_[first + i], sizeof states);
      // Brings the lowest bits of eight bytes together.
      look.held |= (states & each) * 0x0102040810204080 >> 56 << i;
      look.dirty |= states & ~each;
    }
    look.held &= which;
    return look;
  }

  // A set is a row of entries, and then one of as many lines. A slot is the place of an entry.
  uint32_t slots_of(uint32_t set) const { return set << way_bits_ << 1; }
  uint32_t slot_of(const LineSets& sets, uint32_t line) const {
    return slots_of(sets.of(line)) + way_of_[line];
  }
  uint32_t way(uint32_t slot) const { return slot & ((1u << way_bits_) - 1); }
  uint32_t* entries() { return rows_.data()->ways; }
  const uint32_t* entries() const { return rows_.data()->ways; }
  uint32_t* lines() { return entries() + (1u << way_bits_); }
  uint32_t& entry(uint32_t slot) { return entries()[slot]; }
  uint32_t& line_in(uint32_t slot) { return lines()[slot]; }
  // Of lines touched together the earlier one is the older.
  uint32_t use(uint32_t now, uint32_t i) const { return now + (i << way_bits_); }

  void write_down(uint32_t first, PieceMask which) {
    written_down_ = true;
    if ((which & (which + 1)) == 0) {  // from the first line on
      const auto count = static_cast<uint32_t>(std::bit_width(which));
      uint32_t* const uses = &uses_[first];
      const uint32_t now = now_, way_bits = way_bits_;
      for (uint32_t i = 0; i < count; ++i) uses[i] = now + (i << way_bits);
    } else {
      for_each_piece(which, [&](uint32_t i) { uses_[first + i] = use(now_, i); });
    }
  }

  PieceMask touch_runs(const LineSets& sets, uint32_t first, PieceMask which, Access access);
  void enter(const LineSets& sets, uint32_t first, PieceMask which, uint32_t now);
  void place(const LineSets& sets, uint32_t first, PieceMask which);
  uint32_t oldest(uint32_t set) const;
  uint32_t empty_way(uint32_t set);
  void spare_reduced(uint32_t set);
  void take_out(uint32_t slot);
  void enter_hits(const LineSets& sets);
  void compare(uint32_t set);
  uint32_t compared_oldest(uint32_t set);
  void compare_all();
  void write_back_if_old(const LineSets& sets, uint32_t line);
  void write_back(uint32_t slot);
  void count_uses_anew(const LineSets& sets);

  struct Hit {
    uint32_t first;
    PieceMask which;
    uint32_t now;
  };

  uint32_t sets_;
  uint32_t ways_;
  uint32_t way_bits_;
  uint32_t dirty_ways_;
  uint32_t now_;                 // as an entry of way 0
  std::vector<Row> rows_;        // two a set and 16 ways: entries, and lines or no_line
  std::vector<uint8_t> way_of_;  // of each line that is held
  std::vector<uint8_t> states_;  // of each line, and 64 more
  std::array<Hit, 16> waiting_;  // hits of which no entry tells
  size_t hits_ = 0;
  std::vector<uint32_t> uses_;  // of each line: the last one that was written down, or 0
  bool written_down_ = false;   // whether an entry may be older than that
  size_t found_old_ = 0;        // smallest entries that were, since the last compare_all()
  std::vector<uint32_t> written_back_;
};

}  // namespace sawtooth::sim
