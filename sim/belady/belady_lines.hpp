// A set of times that finds the latest before any other in a few steps: a tree of bits, 64 children
// a node (van Emde Boas' idea with word-sized nodes).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/schedule/atoms.hpp"

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

// Belady's optimum of a fully associative cache, line by line, at the cost of whole tiles, and
// without knowing the future.
//
// On a miss in a full cache the line that is needed last leaves (Belady, IBM Systems Journal 5(2),
// 1966). Every miss fills its line. No replacement in a cache of that capacity misses less,
// whether fully or set-associative (Mattson, Gecsei, Slutz and Traiger, IBM Systems Journal 9(2),
// 1970). When a line comes back, it is known which of the returns before it were hits, and so
// whether a place was left for it all the while (Jain and Lin, "Back to the Future: Leveraging
// Belady's Algorithm for Improved Cache Replacement", ISCA 2016). docs/models/exactness.md, E, says
// why these are the hits of Belady's rule, and how places are kept. Atoms may differ in size.

class BeladyLines {
 public:
  struct Missed {
    int64_t lines = 0;
    int64_t last_lines = 0;  // of these, the atom's last line, which may not be full of sectors
  };

  /// `sizes` must outlive this, and may grow. `capacity_lines` is at least 1; throws
  /// std::invalid_argument otherwise.
  BeladyLines(const std::vector<AtomSize>& sizes, int64_t capacity_lines);

  /// What the next visit misses: all lines of `atom` in turn, `times` times in direct succession.
  Missed visit(AtomId atom, uint32_t times);

  /// The next visit to any of `atoms` is a first one.
  void forget(AtomRange atoms);

  /// Visits remembered at present: bounded by a multiple of the atoms and of the capacity.
  int64_t slots() const { return static_cast<int64_t>(slots_.size()); }

 private:
  static constexpr uint32_t never = UINT32_MAX;
  static constexpr uint32_t no_run = UINT32_MAX;
  static constexpr size_t initial_slots = 1024;
  static constexpr size_t most_slots = UINT32_MAX;

  // Places that came free during a visit, at the times of these lines of it.
  struct Slot {
    uint32_t highest_run = no_run;
    bool first_line = false;  // apart from the runs
  };
  struct Run {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t lower = no_run;  // the next one of its slot
  };

  static bool is_empty(const Slot& slot) { return slot.highest_run == no_run && !slot.first_line; }

  Missed visit_once(AtomId atom);
  void hit(uint32_t begin, uint32_t end);
  int64_t fill(uint32_t begin, uint32_t end);
  int64_t take_from(Slot& slot, int64_t most);
  void forget_if_empty(uint32_t slot);
  void push_run(Slot& slot, uint32_t begin, uint32_t end);
  void pop_run(Slot& slot);
  void make_room();

  const std::vector<AtomSize>& sizes_;
  int64_t capacity_;
  int64_t unused_;               // places that were never taken
  std::vector<uint32_t> last_;   // slot of the last visit to an atom, or never
  std::vector<Slot> slots_;      // of visits, in the order of time
  std::vector<Run> runs_;        // of all slots
  std::vector<uint32_t> spare_;  // of these, not in use
  TimeSet with_places_;          // the slots that have any
  uint32_t now_ = 0;             // the next slot
  // These belong to the visit at hand.
  uint32_t slot_ = 0;
  uint32_t before_ = 0;    // the slot of the visit before to this atom
  std::vector<Run> own_;   // what that slot had, the highest first
  std::vector<Run> hits_;  // ascending, without the first line
};

}  // namespace sawtooth::sim
