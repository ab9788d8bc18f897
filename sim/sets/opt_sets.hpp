// Belady's optimum in every set: the line that is needed last leaves (Belady, "A study of
// replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966). No
// policy that fills a line at every miss misses less with the same sets and ways. What hits is
// known when a line comes back, as in sim/belady/belady_lines.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/sets/set_engine.hpp"

namespace sawtooth::sim {

class OptSets : public SetEngine {
 public:
  OptSets(const SetPartition& partition, uint32_t ways);

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override;
  void mark_held(std::span<uint8_t> /*held*/) const override {}
  void forget(AtomId atom) override;

 private:
  bool access(uint32_t set, uint32_t part);

  const SetPartition& partition_;
  uint32_t places_;                   // of a set that can be kept for lines while others pass by
  std::vector<uint64_t> accesses_;    // to each set so far
  std::vector<uint64_t> free_since_;  // of every place, in accesses to its set; set after set
  std::vector<uint64_t> last_;        // access to each part, in accesses to its set; 0 before
};

}  // namespace sawtooth::sim
