// What replays visits on the sets of a partition, one set of each class.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/sets/parameters.hpp"
#include "sim/sets/partition.hpp"
#include "sim/sets/recency_row.hpp"

namespace sawtooth::sim {

class SetEngine {
 public:
  virtual ~SetEngine() = default;
  /// Visits atoms in this order; `missed_sectors[i]` becomes what visit i missed in all its sets.
  /// Both spans have one size. May be called again and again with what comes next.
  virtual void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) = 0;
  /// Sets held[part] of the parts of which lines are held. An engine that holds none, as it looks
  /// back, sets nothing.
  virtual void mark_held(std::span<uint8_t> held) const = 0;
  /// Parts of this atom, which are not held, stand for other lines from now on.
  virtual void forget(AtomId atom) = 0;
};

/// The engine of parameters.policy. `priorities`, which opt does not have, has one entry an atom,
/// or is null when all are normal. `partition`, which may place further atoms, and `priorities`
/// must outlive the engine.
std::unique_ptr<SetEngine> make_set_engine(const SetPartition& partition,
                                           const SetGeometry& geometry,
                                           const SetsParameters& parameters,
                                           const std::vector<Priority>* priorities);

// LRU without priorities, the fast way: with up to 16 ways and AVX-512 on rows of tags
// (recency_row.hpp), and tag by tag without.

class RecencySets : public SetEngine {
 public:
  static constexpr uint32_t vector_ways = RecencyRow::ways;

  /// Throws std::invalid_argument when `path` cannot run here; sets of more than vector_ways ways
  /// take the scalar path, whatever it is.
  RecencySets(const SetPartition& partition, uint32_t ways, VectorPath path);

  void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) override;
  void mark_held(std::span<uint8_t> held) const override;
  void forget(AtomId /*atom*/) override {}

 private:
  // Visits that are looked up in one go: few enough for what they found to stay in the L1 cache.
  static constexpr size_t slice_accesses = 512;

  bool access(uint32_t* tags, uint32_t tag) const;
  void visit_scalar(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void visit_whole(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void visit_parts(std::span<const AtomId> visits, uint32_t* missed_sectors);
  void look_up(const uint32_t* tags, size_t count);

  const SetPartition& partition_;
  uint32_t ways_;
  bool by_vectors_;
  std::vector<uint32_t> tags_;                    // set after set; scalar path
  std::vector<RecencyRow> rows_;                  // a set each; vector path
  std::array<uint32_t, slice_accesses> found_{};  // the way, as a bit; 0 is a miss
};

// Belady's optimum in every set: the line that is needed last leaves (Belady, "A study of
// replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966). No
// policy that fills a line at every miss misses less with the same sets and ways. What hits is
// known when a line comes back, as in sim/belady/belady_lines.hpp.

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
