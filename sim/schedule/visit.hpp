// What a wavefront tells a cache model: who touched which atom, in time order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/counters.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// A reduction is an addition that L2 carries out: it leaves its line dirty, as a write does, and
/// reads it from DRAM where it is missing.
enum class Access : uint8_t { read, write, prefetch, reduce };
inline constexpr int access_count = 4;
inline constexpr std::array<std::string_view, access_count> access_names{"read", "write",
                                                                         "prefetch", "reduce"};

/// Whether it leaves its line dirty.
constexpr bool changes(Access access) {
  return access == Access::write || access == Access::reduce;
}

/// `times` visits to `atom` in direct succession, by `times` different workers from `worker` on.
/// The first may miss; the others hit at the distance of the atom's own lines
/// (docs/models/exactness.md, D). A prefetch brings the atom into L2 without delivering it to an
/// SM.
struct Visit {
  AtomId atom = 0;
  Access access = Access::read;
  uint32_t times = 1;
};

// Sectors by tensor, for models that count visits at one capacity.

/// `Atoms` is LiveAtoms, or has its size(), sizes() and tensor_of().
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
