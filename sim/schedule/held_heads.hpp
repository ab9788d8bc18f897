// Numbers for the atoms of heads in flight, and of ended ones of which L2 still holds lines: what
// is kept is bounded by the cache, however many heads there are.
#pragma once

#include <cstddef>

#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

/// `L2` has begin(HeadRun) and holds(AtomRange), as TwoHalves and PlacedSets; look_for_held() comes
/// before where it has one.
template <class L2>
class HeldHeads {
 public:
  HeldHeads(LiveAtoms& atoms, L2& l2) : atoms_(atoms), l2_(l2) { atoms_.record_begun(); }

  /// Before visits: heads that got numbers get their place in memory.
  void begin() {
    atoms_.take_begun([this](const HeadRun& run) { l2_.begin(run); });
  }
  /// When all touches so far have been visited. A look costs about the ways of L2, so it comes
  /// after as many ended atoms.
  void settle() {
    if (atoms_.ended_atoms() < limit_) return;
    if constexpr (requires { l2_.look_for_held(); }) l2_.look_for_held();
    atoms_.recycle_where([this](AtomRange atoms) { return !l2_.holds(atoms); });
    limit_ = least_ended + 2 * atoms_.ended_atoms();
  }

 private:
  static constexpr size_t least_ended = 16384;

  LiveAtoms& atoms_;
  L2& l2_;
  size_t limit_ = least_ended;
};

}  // namespace sawtooth::sim
