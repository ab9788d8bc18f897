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
#pragma once

#include <cstdint>
#include <vector>

#include "sim/belady/time_set.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

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
  // Of the visit at hand:
  uint32_t slot_ = 0;
  uint32_t before_ = 0;    // the slot of the visit before to this atom
  std::vector<Run> own_;   // what that slot had, the highest first
  std::vector<Run> hits_;  // ascending, without the first line
};

}  // namespace sawtooth::sim
