// Joins touches of one atom in direct succession, by different workers, into one Visit: n workers
// on one tile are one event and n - 1 hits (docs/models/exactness.md, D).
#pragma once

#include <cstdint>

#include "sim/schedule/visit.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {

/// `Consumer` has `void visit(const Visit&)`. Call flush() after the last touch.
template <class Consumer>
class MergedVisits : public WavefrontSink {
 public:
  /// With `merge` false every touch is a visit of its own.
  MergedVisits(Consumer& consumer, bool merge) : consumer_(consumer), merge_(merge) {}

  void touch(int64_t /*worker*/, AtomId atom, Access access) {
    if (merge_ && pending_.times > 0 && pending_.atom == atom && pending_.access == access) {
      ++pending_.times;
      return;
    }
    flush();
    pending_ = {atom, access, 1};
  }

  void flush() {
    if (pending_.times > 0) consumer_.visit(pending_);
    pending_.times = 0;
  }

 private:
  Consumer& consumer_;
  bool merge_;
  Visit pending_{0, Access::read, 0};
};

/// Replays `request` in lockstep into `consumer`, a visit after the other; returns its steps.
template <class Atoms, class Consumer>
int64_t replay_lockstep(const Request& request, Atoms& atoms, Consumer& consumer) {
  MergedVisits<Consumer> visits(consumer, request.merge_lockstep);
  LockstepWavefront wavefront(request, atoms, visits);
  wavefront.run();
  visits.flush();
  return wavefront.steps();
}

}  // namespace sawtooth::sim
