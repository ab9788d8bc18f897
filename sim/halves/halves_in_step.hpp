// A two-half L2 whose readers visit atoms in step, as in lockstep and in the calibration streams.
// Nothing tells then which half's request for a line comes first: measured shares do
// (HalvesParameters::far_first_waiting and _running), and those of the request coalescer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/halves/coalescer.hpp"
#include "sim/halves/two_halves.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// Workers that touch one atom in direct succession, by the half that they sit at.
struct HalfVisit {
  AtomId atom = 0;
  Access access = Access::read;
  std::array<uint32_t, 2> times{};

  uint32_t all_times() const { return times[0] + times[1]; }
};

class HalvesInStep {
 public:
  /// As TwoHalves.
  HalvesInStep(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes,
               std::vector<uint8_t> groups, int group_count,
               const CoalescerParameters& coalescer = {});

  /// Of atoms that begin() names, as TwoHalves.
  HalvesInStep(const HalvesParameters& parameters, const LiveAtoms& heads,
               const CoalescerParameters& coalescer);

  void begin(const HeadRun& run) { l2_.begin(run); }
  bool holds(AtomRange atoms) const { return l2_.holds(atoms); }

  /// With one half all workers count as those of half 0, whatever `times` says.
  void visit(const HalfVisit& visit);

  /// As TwoHalves.
  void receive(AtomId atom, Copier copier) { l2_.receive(atom, copier); }
  void send(AtomId atom, Copier copier) { l2_.send(atom, copier); }

  /// What the next visits to any atom are counted under, instead of the atom's own group.
  void count_under(int group) { l2_.count_under(group); }

  /// All counters of sim/counters.hpp; the identity DRAM reads = near misses - fabric reads +
  /// fabric misses holds exactly, but for what reductions fill.
  Counters counters(int group) { return tally(group).counters(); }
  /// What they are made of.
  Tally tally(int group);

  /// Visits of single workers so far.
  int64_t visits() const { return visits_; }

 private:
  void count_read(const HalfVisit& visit, const TwoHalves::MissedByHome& missed);

  TwoHalves l2_;
  CoalescerParameters coalescer_;
  std::vector<double> far_first_;  // of a group, in units: both asked, and the far half came first
  double running_ = 0;             // share of all lines read lately that hit at their home
  int64_t visits_ = 0;
};

}  // namespace sawtooth::sim
