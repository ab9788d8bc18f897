// Where the simulated lines of a head lie: how many lines of each home an allocation has before it.
//
// An allocation is a tensor, or all of memory. Its lines are numbered home by home in address
// order, and homes take turns along a tile; which one begins is chance. So lines are counted
// through from the first head on, and from marks on the way where heads come in any order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/piece.hpp"

namespace sawtooth::sim {

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

}  // namespace sawtooth::sim
