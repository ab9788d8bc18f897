// Joins touches of one atom in direct succession into one visit with the number of its workers at
// each half: the two-half counterpart of sim/schedule/merged_visits.hpp.
#pragma once

#include <cstdint>

#include "sim/halves/halves_in_step.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {

/// Half of worker w. Workers fill SMs in turn and SMs are numbered across the GPCs of both halves
/// in turn; a map measured on one die can replace this.
constexpr int half_of_worker(int64_t worker, int halves) {
  return static_cast<int>(worker % halves);
}

/// `Consumer` has `void visit(const HalfVisit&)`. Call flush() after the last touch.
template <class Consumer>
class HalfVisits : public WavefrontSink {
 public:
  /// With `merge` false every touch is a visit of its own.
  HalfVisits(Consumer& consumer, int halves, bool merge)
      : consumer_(consumer), halves_(halves), merge_(merge) {}

  void touch(int64_t worker, AtomId atom, Access access) {
    const bool same = pending_.atom == atom && pending_.access == access;
    if (!merge_ || !same) flush();
    pending_.atom = atom;
    pending_.access = access;
    ++pending_.times[static_cast<size_t>(half_of_worker(worker, halves_))];
  }

  void flush() {
    if (pending_.all_times() > 0) consumer_.visit(pending_);
    pending_.times = {};
  }

 private:
  Consumer& consumer_;
  int halves_;
  bool merge_;
  HalfVisit pending_;
};

}  // namespace sawtooth::sim
