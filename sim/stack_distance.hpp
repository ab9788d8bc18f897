// Exact LRU stack distances of weighted atoms: a Fenwick tree over time whose leaf t holds the
// lines of the atom whose last visit was at time t (Bennett and Kruskal, IBM J. R&D 1975, with
// the tree of Fenwick 1994). When time reaches the end of the tree the live leaves are renumbered
// densely, so memory is bounded by the number of atoms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/atoms.hpp"

namespace sawtooth::sim {

class StackDistance {
 public:
  static constexpr int64_t cold = -1;

  explicit StackDistance(std::span<const AtomSize> sizes);

  /// Lines of the distinct other atoms visited since the last visit of `atom`; `cold` at its first.
  int64_t visit(AtomId atom);

 private:
  void add(int64_t time, int64_t lines);
  int64_t sum_up_to(int64_t time) const;
  void compact();

  std::span<const AtomSize> sizes_;
  std::vector<int64_t> last_;  // time of the last visit of an atom, from 1 on; 0 is never
  std::vector<AtomId> atom_at_;
  std::vector<int64_t> tree_;
  int64_t now_ = 0;
  int64_t live_lines_ = 0;
};

}  // namespace sawtooth::sim
