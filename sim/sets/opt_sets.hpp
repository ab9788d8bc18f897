// Belady's optimum in every set: the line that is needed last leaves (Belady, "A study of
// replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966). No
// policy that fills a line at every miss misses less with the same sets and ways.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/sets/set_engine.hpp"

namespace sawtooth::sim {

class OptSets : public SetEngine {
 public:
  /// `all_visits` is what visit() will be given, from the first to the last; fewer than 2^32 - 1.
  OptSets(const SetPartition& partition, uint32_t ways, std::span<const AtomId> all_visits);

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override;

 private:
  struct Way {
    uint32_t part = UINT32_MAX;
    // When it is needed again: the next visit to its atom, then its place in that visit. An empty
    // way is never needed, and leaves before all lines.
    uint64_t needed = UINT64_MAX;
  };

  const SetPartition& partition_;
  uint32_t ways_;
  std::vector<uint32_t> next_visit_;  // to the atom of visit i
  std::vector<Way> table_;            // set after set
  size_t now_ = 0;
};

/// next[i] is the index of the next visit to the atom of visit i, or UINT32_MAX.
std::vector<uint32_t> next_visits(std::span<const AtomId> visits, size_t atoms);

}  // namespace sawtooth::sim
