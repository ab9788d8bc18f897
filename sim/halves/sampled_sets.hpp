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
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/count_bits.hpp"
#include "sim/halves/lru_sets.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/piece.hpp"
#include "sim/halves/set_placement.hpp"

namespace sawtooth::sim {

// Where the simulated lines of a head lie: how many lines of each home an allocation has before it.
//
// An allocation is a tensor, or all of memory. Its lines are numbered home by home in address
// order, and homes take turns along a tile; which one begins is chance. So lines are counted
// through from the first head on, and from marks on the way where heads come in any order.

/// Lines of each home in every allocation.
using PlacedLines = std::array<std::array<int64_t, 2>, tensor_count + 1>;

/// The atoms of one tile share its pieces, each of which stands for `lines_a_piece` lines. Tiles of
/// so few lines that one of them has less than half a piece are placed together, as one tile: a
/// piece for each of them would take more room than they have lines.
struct PlacedTile {
  size_t atoms = 0;
  int64_t lines = 0;
  int64_t units = 0;
  int64_t pieces = 1;  // none where there are no lines
  int64_t first_home = 0;
  int tensor = 0;
  int tensors = 1;  // the pieces of which are equally many, the first tensor's first

  int home(int64_t piece, int halves) const {
    return static_cast<int>((first_home + piece) & (halves - 1));
  }
  int tensor_of(int64_t piece) const { return tensor + static_cast<int>(piece * tensors / pieces); }
};

/// The first piece of a tile with this number has this home.
inline int64_t first_home_of(int64_t number) {
  return static_cast<int64_t>(mix64(static_cast<uint64_t>(number)) % 2);
}

/// The tile that begins `sizes`; its first atom is number `number` of all.
inline PlacedTile placed_tile(std::span<const AtomSize> sizes, int64_t number,
                              int64_t lines_a_piece) {
  PlacedTile tile{.first_home = first_home_of(number),
                  .tensor = sizes.front().tensor,
                  .tensors = sizes.front().tensors};
  const auto add = [&] {
    tile.lines += sizes[tile.atoms].lines;
    tile.units += sizes[tile.atoms].sectors * units_per_sector;
    return ++tile.atoms < sizes.size();
  };
  while (add() && sizes[tile.atoms].goes_on) {
  }
  const bool small = tile.lines > 0 && 2 * tile.lines < lines_a_piece;
  while (small && tile.lines < lines_a_piece && tile.atoms < sizes.size() &&
         sizes[tile.atoms].tensor == sizes.front().tensor)
    add();
  const int64_t least = tile.lines > 0 ? 1 : 0;
  tile.pieces = std::max(least, (tile.lines + lines_a_piece / 2) / lines_a_piece);
  return tile;
}

class PlacedHeads {
 public:
  /// `heads` must outlive this.
  PlacedHeads(const LiveAtoms& heads, const HalvesParameters& parameters, int64_t lines_a_piece)
      : heads_(heads),
        halves_(parameters.halves),
        one_allocation_(parameters.one_allocation),
        lines_a_piece_(lines_a_piece) {}

  /// Before head `head` of `tensor`; of other tensors only where all are one allocation.
  const PlacedLines& before(Tensor tensor, int64_t head);
  /// The number of the first atom of a tensor, and where its rows lie if it is paged.
  int64_t first_number(Tensor tensor) const { return heads_.number(tensor, 0); }
  const PagedKeys& keys(Tensor k_or_v) const { return heads_.of_head().paged_keys(k_or_v); }

 private:
  struct Walk {
    int64_t head = 0;
    PlacedLines before{};
    std::vector<PlacedLines> marks;  // before every stride-th head, as far as it came
  };
  static constexpr int64_t most_marks = 1024;

  void pass(Tensor tensor, int64_t head, PlacedLines& lines) const;
  PlacedLines before_tensor(Tensor tensor);

  const LiveAtoms& heads_;
  int halves_;
  bool one_allocation_;
  int64_t lines_a_piece_;
  std::array<Walk, tensor_count> walks_;
};

/// Sets simulated of a half, about.
inline constexpr int64_t sampled_sets = 1024;

/// A store of sim/halves/piece.hpp. A piece is a simulated line.
class SampledSets {
 public:
  /// `heads`, which begin() names, must outlive this. Without them one call of begin() has all
  /// atoms, which follow each other in memory.
  explicit SampledSets(const HalvesParameters& parameters, const LiveAtoms* heads = nullptr);

  void begin(const HeadRun& run);

  uint32_t pieces(AtomId atom) const { return atoms_[atom + 1].first - atoms_[atom].first; }

  // Homes take turns along the lines of an atom.
  PieceMask at_home(AtomId atom, uint32_t first, int home) const {
    constexpr PieceMask every_other = ~PieceMask{0} / 3;
    const PieceMask all = first_pieces(pieces(atom) - first);
    if (sets_.size() == 1) return home == 0 ? all : 0;
    return all & every_other << (atoms_[atom].first_home == static_cast<uint32_t>(home) ? 0 : 1);
  }

  int64_t units(AtomId atom, uint32_t first, PieceMask which) const {
    const uint32_t each = units_[atoms_[atom].units];
    if (each != 0) return int64_t{count_bits(which)} * each;
    const uint32_t* const of = &units_[atoms_[atom].units + 1 + first];
    int64_t sum = 0;
    for_each_piece(which, [&](uint32_t i) { sum += of[i]; });
    return sum;
  }

  PieceMask independent(AtomId atom, uint32_t first, PieceMask which) const {
    return line_sets_.run(atoms_[atom].first + first, which);
  }

  template <class WrittenBack>
  PieceMask touch(int half, AtomId atom, uint32_t first, PieceMask which, Access access,
                  WrittenBack written_back) {
    LruSets& sets = sets_[static_cast<size_t>(half)];
    const PieceMask held = sets.touch(line_sets_, atoms_[atom].first + first, which, access);
    take_written_back(sets, written_back);
    return held;
  }

  PieceMask held(int half, AtomId atom, uint32_t first, PieceMask which) const {
    const LruSets& sets = sets_[static_cast<size_t>(half)];
    PieceMask held = 0;
    for_each_piece(which, [&](uint32_t i) {
      held |= PieceMask{sets.holds(line_sets_, atoms_[atom].first + first + i)} << i;
    });
    return held;
  }

  template <class WrittenBack>
  void drop(int half, AtomId atom, uint32_t first, PieceMask which, WrittenBack written_back) {
    LruSets& sets = sets_[static_cast<size_t>(half)];
    for_each_piece(which,
                   [&](uint32_t i) { sets.drop(line_sets_, atoms_[atom].first + first + i); });
    take_written_back(sets, written_back);
  }

  template <class WrittenBack>
  void settle(WrittenBack written_back) {
    for (LruSets& sets : sets_) {
      sets.settle(line_sets_);
      take_written_back(sets, written_back);
    }
  }

  bool holds(AtomId atom) const {
    for (uint32_t piece = atoms_[atom].first; piece < atoms_[atom + 1].first; ++piece)
      for (const LruSets& sets : sets_)
        if (sets.holds(line_sets_, piece)) return true;
    return false;
  }

 private:
  struct Atom {
    uint32_t first = 0;           // of its pieces
    uint32_t units : 31 = 0;      // where those of its pieces are
    uint32_t first_home : 1 = 0;  // of its first piece
  };

  AtomId atom_of(uint32_t piece) const {
    const auto after =
        std::upper_bound(atoms_.begin(), atoms_.end(), piece,
                         [](uint32_t p, const Atom& atom) { return p < atom.first; });
    return static_cast<AtomId>(after - atoms_.begin() - 1);
  }

  template <class WrittenBack>
  void take_written_back(LruSets& sets, WrittenBack written_back) {
    sets.take_written_back([&](uint32_t piece) {
      const AtomId owner = atom_of(piece);
      written_back(owner, units(owner, piece - atoms_[owner].first, 1));
    });
  }

  void lay(const HeadRun& run, PlacedLines before, const PagedKeys* keys);
  int64_t piece_in_memory(const PagedKeys& keys, int64_t head, int64_t tile_number,
                          const PlacedTile& tile, int64_t piece) const;

  HalvesParameters parameters_;
  int64_t sets_of_half_ = 1;
  int64_t lines_a_piece_ = 1;  // lines of memory that one simulated line stands for
  std::optional<PlacedHeads> heads_;
  std::vector<SetPlacement> placements_;  // by allocation
  std::map<std::vector<uint32_t>, size_t> units_begin_;
  std::vector<Atom> atoms_{Atom{}};  // one more at the end
  LineSets line_sets_{0};
  // An atom has here the units of each piece where these are alike, else 0, and then piece by
  // piece. Atoms that are alike share one entry.
  std::vector<uint32_t> units_;
  std::vector<LruSets> sets_;  // of each half
};

}  // namespace sawtooth::sim
