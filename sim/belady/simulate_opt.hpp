// A schedule in lockstep on a cache that knows the future (model name `opt`): how many misses the
// best of all replacements would have, and so how much of LRU's misses is due to the order of work.
#pragma once

#include "scheduler/memory_units.hpp"
#include "sim/belady/belady_lines.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// The counters of simulate_lru() for a fully associative cache of request.l2_bytes under Belady's
/// replacement; the histogram stays empty. Throws std::invalid_argument as BeladyLines and
/// HeadAtoms do.
Prediction simulate_opt(const Request& request);

// Visits under Belady's optimum, counted by tensor and access.

/// `Atoms` is LiveAtoms, or has its size(), sizes() and tensor_of().
template <class Atoms>
class OptConsumer {
 public:
  /// `atoms` must outlive this, and may grow. Throws std::invalid_argument without a line.
  OptConsumer(const Atoms& atoms, int64_t capacity_lines)
      : atoms_(atoms), tally_(atoms), cache_(atoms.sizes(), capacity_lines) {}

  void visit(const Visit& visit) {
    tally_.accessed(visit);
    const AtomSize size = atoms_.size(visit.atom);
    const int64_t unused = size.lines * sectors_per_line - size.sectors;
    const BeladyLines::Missed missed = cache_.visit(visit.atom, visit.times);
    tally_.missed(visit.atom, visit.access,
                  missed.lines * sectors_per_line - missed.last_lines * unused);
  }

  /// Numbers of atoms that are given again.
  void forget(AtomRange atoms) {
    tally_.forget(atoms);
    cache_.forget(atoms);
  }

  const AccessTally<Atoms>& tally() const { return tally_; }

 private:
  const Atoms& atoms_;
  AccessTally<Atoms> tally_;
  BeladyLines cache_;
};

}  // namespace sawtooth::sim
