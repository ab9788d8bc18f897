// Joins touches of one tile in direct succession into visits with the number of its workers at each
// half, one an atom: the two-half counterpart of sim/schedule/merged_visits.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/halves/halves_in_step.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {

/// Half of worker w. Workers fill SMs in turn and SMs are numbered across the GPCs of both halves
/// in turn; a map measured on one die can replace this.
constexpr int half_of_worker(int64_t worker, int halves) {
  return static_cast<int>(worker % halves);
}

/// `Consumer` has visit(const HalfVisit&), and settle() for when all touches so far were visited.
/// Call flush() after the last touch.
template <class Consumer>
class HalfVisits : public WavefrontSink {
 public:
  /// With `merge` false every touch is a visit of its own. `sizes` must outlive this.
  HalfVisits(Consumer& consumer, const std::vector<AtomSize>& sizes,
             const HalvesParameters& parameters, bool merge)
      : consumer_(consumer),
        sizes_(sizes),
        halves_(parameters.halves),
        capacity_lines_(parameters.capacity_lines),
        merge_(merge) {}

  void touch(int64_t worker, AtomId atom, Access access) {
    const bool same = merge_ && !tile_.empty() && tile_.front().access == access;
    if (same && !again_ && sizes_[atom].goes_on && atom == tile_.back().atom + 1) {
      add(atom, access);
      next_ = tile_.size();
    } else {
      if (next_ == tile_.size()) next_ = 0;
      // Of a tile in parts that exceeds a half, each worker drives out what the next one reads.
      const bool fits = tile_.size() == 1 || lines_ <= capacity_lines_;
      again_ = same && fits && tile_[next_].atom == atom;
      if (!again_) {
        flush();
        add(atom, access);
      }
      ++next_;
    }
    ++tile_[next_ - 1].times[static_cast<size_t>(half_of_worker(worker, halves_))];
  }

  void flush() {
    for (const HalfVisit& visit : tile_) consumer_.visit(visit);
    tile_.clear();
    lines_ = 0;
    next_ = 0;
    again_ = false;
    consumer_.settle();
  }

 private:
  void add(AtomId atom, Access access) {
    tile_.push_back({.atom = atom, .access = access});
    lines_ += sizes_[atom].lines;
  }

  Consumer& consumer_;
  const std::vector<AtomSize>& sizes_;
  int halves_;
  int64_t capacity_lines_;
  bool merge_;
  std::vector<HalfVisit> tile_;  // atoms of one tile, as the first worker touched them
  int64_t lines_ = 0;            // of these
  size_t next_ = 0;              // of these, what the next worker touches
  bool again_ = false;           // whether a second worker has begun
};

}  // namespace sawtooth::sim
