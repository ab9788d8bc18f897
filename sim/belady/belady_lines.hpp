// A set of times that finds the latest before any other in a few steps: a tree of bits, 64 children
// a node (van Emde Boas' idea with word-sized nodes).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
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
  BeladyLines(const std::vector<AtomSize>& sizes, int64_t capacity_lines)
      : sizes_(sizes),
        capacity_(capacity_lines),
        unused_(capacity_lines - 1),  // one is kept for the line that passes by
        last_(sizes.size(), never),
        slots_(initial_slots),
        with_places_(initial_slots) {
    if (capacity_lines < 1)
      throw std::invalid_argument("opt: a cache of " + std::to_string(capacity_lines) +
                                  " lines; allowed: 1 or more");
  }

  /// What the next visit misses: all lines of `atom` in turn, `times` times in direct succession.
  Missed visit(AtomId atom, uint32_t times) {
    // If the atom fits, it is there whole after the first of several visits in direct succession,
    // and the third leaves what the second has left.
    if (atom >= last_.size()) last_.resize(sizes_.size(), never);
    const uint32_t distinct = sizes_[atom].lines <= capacity_ ? std::min(times, 2U) : times;
    Missed all;
    for (uint32_t i = 0; i < distinct; ++i) {
      const Missed once = visit_once(atom);
      all.lines += once.lines;
      all.last_lines += once.last_lines;
    }
    return all;
  }

  /// The next visit to any of `atoms` is a first one.
  void forget(AtomRange atoms) {
    if (atoms.end > last_.size()) last_.resize(sizes_.size(), never);
    std::fill(last_.begin() + atoms.begin, last_.begin() + atoms.end, never);
  }

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

  Missed visit_once(AtomId atom) {
    const uint32_t lines = sizes_[atom].lines;
    const uint32_t before = last_[atom];
    // Between two accesses to one line with no other in between nothing has to be kept.
    const bool kept = lines == 1 && before != never && before + 1 == now_;
    if (kept) return {};
    if (now_ == slots_.size()) make_room();
    before_ = last_[atom];
    slot_ = last_[atom] = now_++;
    if (before_ == never) return {lines, 1};
    hits_.clear();
    own_.clear();
    for (Slot& own = slots_[before_]; own.highest_run != no_run; pop_run(own))
      own_.push_back(runs_[own.highest_run]);
    // Line i can have a place that came free up to the access after its own, so that of line i + 1.
    Missed missed;
    uint32_t line = 0;
    for (size_t run = own_.size(); run-- > 0;) {
      missed.lines += fill(line, own_[run].begin - 1);
      hit(own_[run].begin - 1, own_[run].end - 1);
      line = own_[run].end - 1;
    }
    missed.lines += fill(line, lines - 1);
    if (std::exchange(slots_[before_ + 1].first_line, false)) {
      forget_if_empty(before_ + 1);
      hit(lines - 1, lines);
    } else {
      missed.last_lines = fill(lines - 1, lines);
      missed.lines += missed.last_lines;
    }
    forget_if_empty(before_);
    for (const Run& run : hits_) push_run(slots_[slot_], run.begin, run.end);
    if (slots_[slot_].first_line || !hits_.empty()) with_places_.insert(slot_);
    return missed;
  }

  // Lines [begin, end) hit; the places that were kept for them are free again from now on.
  void hit(uint32_t begin, uint32_t end) {
    if (begin < end && begin == 0) {
      slots_[slot_].first_line = true;
      ++begin;
    }
    if (begin == end) return;
    if (!hits_.empty() && hits_.back().end == begin)
      hits_.back().end = end;
    else
      hits_.push_back({begin, end});
  }

  // Lines [begin, end) hit as long as places are left from before; returns how many miss.
  int64_t fill(uint32_t begin, uint32_t end) {
    if (begin == end) return 0;
    const int64_t wanted = int64_t{end} - begin;
    int64_t missing = wanted;
    if (std::exchange(slots_[before_].first_line, false)) --missing;
    while (missing > 0) {
      const uint32_t slot = with_places_.latest_before(before_);
      if (slot == TimeSet::none) break;
      missing -= take_from(slots_[slot], missing);
      forget_if_empty(slot);
    }
    const int64_t never_used = std::min(missing, unused_);
    unused_ -= never_used;
    missing -= never_used;
    hit(begin, begin + static_cast<uint32_t>(wanted - missing));
    return missing;
  }

  // Up to `most` places of a slot, those that came free last; returns how many.
  int64_t take_from(Slot& slot, int64_t most) {
    int64_t taken = 0;
    while (taken < most && slot.highest_run != no_run) {
      Run& run = runs_[slot.highest_run];
      const int64_t part = std::min<int64_t>(most - taken, run.end - run.begin);
      run.end -= static_cast<uint32_t>(part);
      taken += part;
      if (run.begin == run.end) pop_run(slot);
    }
    if (taken < most && std::exchange(slot.first_line, false)) ++taken;
    return taken;
  }

  void forget_if_empty(uint32_t slot) {
    if (slot != slot_ && is_empty(slots_[slot])) with_places_.erase(slot);
  }

  void push_run(Slot& slot, uint32_t begin, uint32_t end) {
    if (spare_.empty()) {
      spare_.push_back(static_cast<uint32_t>(runs_.size()));
      runs_.emplace_back();
    }
    runs_[spare_.back()] = {begin, end, slot.highest_run};
    slot.highest_run = spare_.back();
    spare_.pop_back();
  }

  void pop_run(Slot& slot) {
    spare_.push_back(slot.highest_run);
    slot.highest_run = runs_[slot.highest_run].lower;
  }

  // Drops the slots without places whose atoms were visited later. What follows a slot matters to
  // it: where slots were dropped, an empty one stands for them.
  void make_room() {
    std::vector<uint32_t> number(slots_.size(), never);
    for (const uint32_t slot : last_)
      if (slot != never) number[slot] = 0;
    bool gap = false;
    std::vector<Slot> kept;
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
      const bool keeps = number[slot] != never || !is_empty(slots_[slot]);
      if (keeps || !gap) kept.push_back(slots_[slot]);
      if (keeps) number[slot] = static_cast<uint32_t>(kept.size()) - 1;
      gap = !keeps;
    }
    now_ = static_cast<uint32_t>(kept.size());
    if (kept.size() >= most_slots / 2)
      throw std::invalid_argument("opt: more than " + std::to_string(most_slots / 2) +
                                  " tiles were visited; use larger tiles");
    slots_ = std::move(kept);
    slots_.resize(std::max(number.size(), 2 * slots_.size()));
    with_places_ = TimeSet(slots_.size());
    for (uint32_t slot = 0; slot < now_; ++slot)
      if (!is_empty(slots_[slot])) with_places_.insert(slot);
    for (uint32_t& slot : last_)
      if (slot != never) slot = number[slot];
  }

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
