// A two-half L2 that counts what the hardware counts, on whole tiles, deterministically.
//
// A read is looked up in the reader's near half. On a near miss a line whose home is the other half
// crosses the fabric and is looked up there; what misses at its home is read from DRAM. A line read
// through the half that is not its home is kept in both. A write goes to the home half alone,
// allocates without a fill, and drops the other half's copy; a dirty line costs a DRAM write when
// it is evicted. docs/two-half-l2.md has the evidence for each of these. What a half keeps is
// decided by one of two stores: whole atoms (fully associative, exact) or sampled sets.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "sim/counters.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/sampled_sets.hpp"
#include "sim/halves/whole_atoms.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// Workers that touch one atom in direct succession, by the half that they sit at.
struct HalfVisit {
  AtomId atom = 0;
  Access access = Access::read;
  std::array<uint32_t, 2> times{};

  uint32_t all_times() const { return times[0] + times[1]; }
};

class TwoHalves {
 public:
  /// `groups[a]` is the group (a tensor, a pass ...) below `group_count` whose counters atom a
  /// feeds. Throws std::invalid_argument for bad parameters.
  TwoHalves(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes,
            std::vector<uint8_t> groups, int group_count);

  /// With one half all workers count as those of half 0, whatever `times` says.
  void visit(const HalfVisit& visit);

  /// What the next visits to any atom are counted under, instead of the atom's own group.
  void count_under(int group) { override_ = group; }

  /// Near misses, fabric reads and misses, DRAM reads and writes, write misses; the identity
  /// DRAM reads = near misses - fabric reads + fabric misses holds exactly. Reads by SMs are not
  /// this class's business (sim/halves/coalescer.hpp).
  Counters counters(int group) const;

  /// Share of all lines read lately that hit at their home: 1 when nobody waits for DRAM.
  double running() const { return running_; }

 private:
  // Counts in units of a piece.
  struct Tally {
    int64_t home_misses = 0;  // reads that missed at their home: DRAM reads
    int64_t fabric_reads = 0;
    int64_t fabric_misses = 0;  // only the far half wanted the line
    double far_first = 0;       // both wanted it, both missed, and the far half came first
    int64_t write_misses = 0;
    int64_t dram_writes = 0;
    bool read = false;
    bool written = false;
  };

  template <class Store>
  void read(Store& store, const HalfVisit& visit, Tally& tally);
  template <class Store>
  void write(Store& store, AtomId atom, Tally& tally);
  template <class Store>
  bool touch(Store& store, int half, const Piece& piece, bool write);

  HalvesParameters parameters_;
  std::vector<AtomSize> sizes_;
  std::vector<uint8_t> groups_;
  std::variant<WholeAtoms, SampledSets> store_;
  std::vector<Tally> tallies_;
  int override_ = -1;
  double running_ = 0;
};

}  // namespace sawtooth::sim
