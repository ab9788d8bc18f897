// LRU and FIFO without priorities, the fast way: the tags of a set stand in the order in which they
// leave, the last one first to go. An access is a search, and a shift of the tags before the place
// where it was found (LRU) or of all tags (a miss). With up to 16 ways both are a few instructions
// on one AVX-512 vector of 32-bit tags, without a branch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/sets/set_engine.hpp"

namespace sawtooth::sim {

class RecencySets : public SetEngine {
 public:
  static constexpr uint32_t vector_ways = 16;

  /// With `hits_move` the policy is LRU, without FIFO. Throws std::invalid_argument when `path`
  /// cannot run here; sets of more than vector_ways ways always take the scalar path.
  RecencySets(const SetPartition& partition, uint32_t ways, bool hits_move, VectorPath path);

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override;

  struct alignas(64) Row {
    uint32_t tags[vector_ways];
  };

 private:
  bool access_lru(uint32_t* tags, uint32_t tag) const;
  bool access_fifo(uint32_t* tags, uint32_t tag) const;
  void visit_scalar(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void visit_avx512(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void visit_whole_avx512(std::span<const AtomId> visits, uint32_t* missed_sectors);

  const SetPartition& partition_;
  uint32_t ways_;
  bool hits_move_;
  bool by_vectors_;
  std::vector<uint32_t> tags_;  // set after set; scalar path
  std::vector<Row> rows_;       // a set each; vector path
};

}  // namespace sawtooth::sim
