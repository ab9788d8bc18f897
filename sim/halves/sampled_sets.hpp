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

  /// What follows is one visit to one atom, more recent than all before.
  void begin_visit() { ++clock_; }

  /// Touches all pieces of `atom` if `half` holds them, else nothing; returns whether it does.
  bool touch_whole(int half, AtomId atom) {
    Half& here = halves_[static_cast<size_t>(half)];
    if (here.lacking[atom] != 0) return false;
    here.visited[atom] = clock_;
    return true;
  }

  /// Returns whether `half` held the piece; `evicted(atom, units)` for every dirty one that leaves.
  template <class Evicted>
  bool touch(int half, const Piece& piece, bool write, Evicted evicted) {
    Half& here = halves_[static_cast<size_t>(half)];
    const Line& line = lines_[piece.id];
    Way* const ways = &here.ways[size_t{line.set} * ways_];
    uint16_t& at = here.way_of[piece.id];
    const bool held = at != nowhere;
    if (!held) {
      at = oldest(here, ways, ways_of(line.set));
      Way& leaves = ways[at];
      if (leaves.line != no_line) {
        here.way_of[leaves.line] = nowhere;
        ++here.lacking[leaves.atom];
        if (leaves.dirty) evicted(leaves.atom, units(leaves.line));
      }
      leaves = {.line = piece.id, .atom = line.atom};
      --here.lacking[line.atom];
    }
    ways[at].touched = clock_;
    ways[at].dirty |= write;
    return held;
  }

  void drop(int half, const Piece& piece) {
    Half& here = halves_[static_cast<size_t>(half)];
    uint16_t& at = here.way_of[piece.id];
    if (at == nowhere) return;
    here.ways[size_t{lines_[piece.id].set} * ways_ + at] = {};
    ++here.lacking[lines_[piece.id].atom];
    at = nowhere;
  }

 private:
  static constexpr uint32_t no_line = UINT32_MAX;
  static constexpr uint16_t nowhere = UINT16_MAX;

  // LRU by the clock: a way's line was touched last at the later one of `touched` and the last
  // visit to its whole atom. Lines of one visit follow each other in their order.
  struct Way {
    uint64_t touched = 0;
    uint32_t line = no_line;
    uint32_t atom : 31 = 0;
    uint32_t dirty : 1 = 0;
  };
  struct Line {
    AtomId atom = 0;
    uint32_t set : 31 = 0;
    uint32_t home : 1 = 0;
    uint32_t units = 0;
  };
  struct Half {
    std::vector<Way> ways;          // set after set
    std::vector<uint16_t> way_of;   // by piece: which way of its set, or nowhere
    std::vector<uint32_t> lacking;  // by atom: pieces that are not here
    std::vector<uint64_t> visited;  // by atom: when it was last touched whole
  };

  static uint16_t oldest(const Half& here, const Way* ways, size_t count) {
    size_t found = 0;
    uint64_t earliest = UINT64_MAX;
    for (size_t i = 0; i < count; ++i) {
      if (ways[i].line == no_line) return static_cast<uint16_t>(i);
      const uint64_t touched = std::max(ways[i].touched, here.visited[ways[i].atom]);
      if (touched > earliest || (touched == earliest && ways[i].line > ways[found].line)) continue;
      earliest = touched;
      found = i;
    }
    return static_cast<uint16_t>(found);
  }

  /// Reserved lines are taken from the first sets, one way each.
  size_t ways_of(uint32_t set) const { return ways_ - (set < reduced_sets_ ? 1 : 0); }

  int64_t units(uint32_t id) const { return lines_[id].units; }

  size_t ways_;
  uint32_t reduced_sets_ = 0;
  int64_t lines_a_piece_ = 1;    // lines of memory that one simulated line stands for
  uint64_t clock_ = 0;           // visits so far
  std::vector<uint32_t> first_;  // of an atom: its first piece; one more at the end
  std::vector<Line> lines_;      // by piece
  std::array<Half, 2> halves_;
};

}  // namespace sawtooth::sim
