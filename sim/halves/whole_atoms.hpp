// Two fully associative halves on whole atoms: sets are off, nothing is sampled, tiles stand for
// their lines exactly (docs/models/exactness.md, A). An atom has one piece a home, of half its
// lines.
#pragma once

#include <vector>

#include "sim/halves/atom_lru.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/piece.hpp"

namespace sawtooth::sim {

class WholeAtoms {
 public:
  WholeAtoms(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes)
      : sizes_(sizes), homes_(static_cast<uint32_t>(parameters.halves)) {
    for (uint32_t half = 0; half < homes_; ++half) {
      halves_.emplace_back(sizes.size() * homes_, parameters.capacity_lines * int64_t{homes_});
    }
  }

  template <class Visit>
  void for_pieces(AtomId atom, Visit visit) {
    for (uint32_t home = 0; home < homes_; ++home) {
      visit(Piece{atom * homes_ + home, static_cast<int>(home), units(atom)});
    }
  }

  int64_t pieces(AtomId) const { return homes_; }

  void begin_visit() {}
  bool touch_whole(int, AtomId) const { return false; }  // its pieces are as fast

  /// Returns whether `half` held the piece; `evicted(atom, units)` for every dirty one that leaves.
  template <class Evicted>
  bool touch(int half, const Piece& piece, bool write, Evicted evicted) {
    // Lines weigh as many units as there are homes, and so does the capacity.
    return halves_[static_cast<size_t>(half)].touch(
        piece.id, sizes_[piece.id / homes_].lines, write, [&](AtomLru::Entry gone, bool dirty) {
          if (dirty) evicted(gone / homes_, units(gone / homes_));
        });
  }

  void drop(int half, const Piece& piece) {
    AtomLru& lru = halves_[static_cast<size_t>(half)];
    if (lru.holds(piece.id)) lru.drop(piece.id);
  }

 private:
  int64_t units(AtomId atom) const { return sizes_[atom].sectors * units_per_sector / homes_; }

  std::vector<AtomSize> sizes_;
  uint32_t homes_;
  std::vector<AtomLru> halves_;
};

}  // namespace sawtooth::sim
