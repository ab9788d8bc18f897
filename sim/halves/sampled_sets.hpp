// Two halves of hashed sets with finite ways, simulated on a sample of the sets.
//
// Sets do not influence each other, so some of them tell the miss rate of all (set sampling:
// Kessler, Hill and Wood, IEEE TC 1994). About `sampled_sets` of a half are simulated, line by line
// with LRU; an atom is then as many lines, evenly, each of which stands for several. A half with
// fewer sets is simulated whole, and the counts are those of single lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/piece.hpp"
#include "sim/halves/set_placement.hpp"
#include "sim/halves/unit_interval.hpp"

namespace sawtooth::sim {

/// Sets simulated of a half, about.
inline constexpr int64_t sampled_sets = 1024;

class SampledSets {
 public:
  SampledSets(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes);

  template <class Visit>
  void for_pieces(AtomId atom, Visit visit) {
    const uint32_t end = first_[atom + 1];
    for (uint32_t id = first_[atom]; id < end; ++id)
      visit(Piece{id, static_cast<int>(lines_[id].home), units(id)});
  }

  int64_t pieces(AtomId atom) const { return first_[atom + 1] - first_[atom]; }

  /// Returns whether `half` held the piece; `evicted(atom, units)` for every dirty one that leaves.
  template <class Evicted>
  bool touch(int half, const Piece& piece, bool write, Evicted evicted) {
    uint8_t& here = held_[static_cast<size_t>(half)][piece.id];
    const bool held = here != 0;
    here = 1;
    Way* const ways = set_of(half, piece.id);
    Way* const end = ways + ways_of(lines_[piece.id].set);
    Way* const leaves = held ? find(ways, piece.id) : end - 1;
    if (!held && leaves->line != Way{}.line) {
      held_[static_cast<size_t>(half)][leaves->line] = 0;
      if (leaves->dirty) evicted(lines_[leaves->line].atom, units(leaves->line));
    }
    const bool dirty = write || (held && leaves->dirty);
    std::move_backward(ways, leaves, leaves + 1);
    *ways = {piece.id, dirty};
    return held;
  }

  void drop(int half, const Piece& piece) {
    uint8_t& here = held_[static_cast<size_t>(half)][piece.id];
    if (here == 0) return;
    here = 0;
    Way* const ways = set_of(half, piece.id);
    Way* const end = ways + ways_of(lines_[piece.id].set);
    Way* const at = find(ways, piece.id);
    std::move(at + 1, end, at);
    end[-1] = {};
  }

 private:
  static constexpr uint32_t no_line = UINT32_MAX;

  struct Way {
    uint32_t line : 31 = no_line >> 1;
    uint32_t dirty : 1 = 0;
  };
  struct Line {
    AtomId atom = 0;
    uint32_t set : 31 = 0;
    uint32_t home : 1 = 0;
    uint32_t units = 0;
  };

  /// The way of a line that is held.
  static Way* find(Way* ways, uint32_t line) {
    while (ways->line != line) ++ways;
    return ways;
  }

  /// Reserved lines are taken from the first sets, one way each.
  size_t ways_of(uint32_t set) const { return ways_ - (set < reduced_sets_ ? 1 : 0); }

  int64_t units(uint32_t id) const { return lines_[id].units; }
  Way* set_of(int half, uint32_t id) {
    return &halves_[static_cast<size_t>(half)][size_t{lines_[id].set} * ways_];
  }

  size_t ways_;
  uint32_t reduced_sets_ = 0;
  int64_t lines_a_piece_ = 1;                 // lines of memory that one simulated line stands for
  std::vector<uint32_t> first_;               // of an atom: its first piece; one more at the end
  std::vector<Line> lines_;                   // by piece
  std::array<std::vector<Way>, 2> halves_;    // set after set, most recent way first
  std::array<std::vector<uint8_t>, 2> held_;  // by piece: whether the half holds it
};

}  // namespace sawtooth::sim
