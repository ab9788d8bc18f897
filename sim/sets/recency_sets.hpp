// LRU and FIFO without priorities, the fast way: with up to 16 ways and AVX-512 on rows of tags
// (recency_row.hpp), and tag by tag without.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/sets/recency_row.hpp"
#include "sim/sets/set_engine.hpp"

namespace sawtooth::sim {

class RecencySets : public SetEngine {
 public:
  static constexpr uint32_t vector_ways = RecencyRow::ways;

  /// With `hits_move` the policy is LRU, without FIFO. Throws std::invalid_argument when `path`
  /// cannot run here; sets of more than vector_ways ways take the scalar path, whatever it is.
  RecencySets(const SetPartition& partition, uint32_t ways, bool hits_move, VectorPath path);

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override;
  void mark_held(std::span<uint8_t> held) const override;
  void forget(AtomId /*atom*/) override {}

 private:
  // Visits that are looked up in one go: few enough for what they found to stay in the L1 cache.
  static constexpr size_t slice_accesses = 512;

  bool access_lru(uint32_t* tags, uint32_t tag) const;
  bool access_fifo(uint32_t* tags, uint32_t tag) const;
  void visit_scalar(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void visit_whole(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void visit_parts(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void look_up(const uint32_t* tags, size_t count);

  const SetPartition& partition_;
  uint32_t ways_;
  bool hits_move_;
  bool by_vectors_;
  std::vector<uint32_t> tags_;                    // set after set; scalar path
  std::vector<RecencyRow> rows_;                  // a set each; vector path
  std::array<uint32_t, slice_accesses> found_{};  // the way, as a bit; 0 is a miss
};

}  // namespace sawtooth::sim
