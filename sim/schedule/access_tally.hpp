// Sectors by tensor, for models that count visits at one capacity.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/counters.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// `Atoms` is AtomTable or LiveAtoms.
template <class Atoms>
class AccessTally {
 public:
  explicit AccessTally(const Atoms& atoms) : atoms_(atoms) {
    for (Tally& tally : tallies_) tally.reads = tally.writes = true;
  }

  /// Counts the accesses of `visit`, and the first touch of its atom.
  void accessed(const Visit& visit) {
    const double sectors = atoms_.size(visit.atom).sectors;
    if (visit.atom >= touched_.size()) touched_.resize(atoms_.sizes().size(), 0);
    const bool first = std::exchange(touched_[visit.atom], 1) == 0;
    Tally& tally = tally_of(visit.atom);
    visits_ += visit.times;
    if (visit.access == Access::write) {
      tally.written += sectors * visit.times;
      return;
    }
    if (visit.access == Access::reduce) {
      tally.reductions = true;
      tally.reduced += sectors * visit.times;
      if (first) tally.cold += sectors;
      return;
    }
    if (first) tally.cold += sectors;
    if (visit.access == Access::read) tally.received += sectors * visit.times;
    tally.passed += sectors * visit.times;
  }

  /// Their numbers are given to other atoms.
  void forget(AtomRange atoms) {
    if (atoms.end > touched_.size()) touched_.resize(atoms_.sizes().size(), 0);
    std::fill(touched_.begin() + atoms.begin, touched_.begin() + atoms.end, uint8_t{0});
  }

  /// What an access to `atom` missed.
  void missed(AtomId atom, Access access, int64_t sectors) {
    Tally& tally = tally_of(atom);
    (access == Access::write    ? tally.write_misses
     : access == Access::reduce ? tally.fill_reads
                                : tally.dram_reads) += double(sectors);
  }

  /// Visits of single workers so far.
  int64_t visits() const { return visits_; }

  Counters counters(Tensor tensor) const {
    return tallies_[static_cast<size_t>(tensor)].counters();
  }

 private:
  Tally& tally_of(AtomId atom) { return tallies_[static_cast<size_t>(atoms_.tensor_of(atom))]; }

  const Atoms& atoms_;
  std::vector<uint8_t> touched_;
  std::array<Tally, tensor_count> tallies_{};
  int64_t visits_ = 0;
};

}  // namespace sawtooth::sim
