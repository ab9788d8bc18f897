// Belady's optimum of a fully associative cache, line by line, at the cost of whole tiles.
//
// On a miss in a full cache the line that is needed last leaves (Belady, IBM Systems Journal 5(2),
// 1966). Every miss fills its line. No replacement in a cache of that capacity misses less,
// whether fully or set-associative (Mattson, Gecsei, Slutz and Traiger, IBM Systems Journal 9(2),
// 1970). A visit needs the lines of its atom in ascending order, so of one atom the highest line is
// needed last: an atom loses lines from above, and what is left of it is a few runs
// (docs/models/exactness.md, E). Atoms may differ in size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/belady/latest_time.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// One visit, or `times` of them to one atom in direct succession.
struct BeladyVisit {
  AtomId atom = 0;
  uint32_t times = 1;
};

class BeladyLines {
 public:
  struct Missed {
    int64_t lines = 0;
    int64_t last_lines = 0;  // of these, the atom's last line, which may not be full of sectors
  };

  /// `visits` is the whole future, fewer than 2^32 - 1; it and `sizes` must outlive this.
  /// `capacity_lines` is at least 1. Throws std::invalid_argument otherwise.
  BeladyLines(std::span<const AtomSize> sizes, int64_t capacity_lines,
              std::span<const BeladyVisit> visits);

  /// What the next visit misses, all its times together.
  Missed next();

 private:
  static constexpr uint32_t never = UINT32_MAX;

  struct Run {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  // Lines of one atom that are in the cache.
  struct Held {
    std::vector<Run> runs;  // ascending, not empty, apart
    int64_t lines = 0;

    void add(uint32_t begin, uint32_t end);
    void drop_highest(int64_t count);
  };
  struct Farthest {
    bool exists = false;
    AtomId atom = 0;
    uint32_t needed = 0;
  };

  Missed visit_once(AtomId atom, uint32_t needed);
  void fill(uint32_t begin, uint32_t end, uint32_t needed);
  Farthest farthest_other() const;
  void take_from(const Farthest& other, int64_t lines);

  std::span<const AtomSize> sizes_;
  std::span<const BeladyVisit> visits_;
  int64_t capacity_;
  int64_t free_;
  std::vector<uint32_t> next_visit_;  // to the atom of visit i
  std::vector<Held> held_;            // of each atom but the one that is being visited
  Held untouched_;                    // lines of that one which this visit has still to come to
  Held touched_;                      // and those that it has passed
  LatestTime times_;                  // of the next visits to atoms that hold lines
  std::vector<AtomId> unneeded_;      // atoms that hold lines and are never visited again
  uint32_t now_ = 0;
};

}  // namespace sawtooth::sim
