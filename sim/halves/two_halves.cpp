#include "sim/halves/two_halves.hpp"

#include <cmath>
#include <utility>

#include "scheduler/permutation.hpp"
#include "sim/halves/unit_interval.hpp"

namespace sawtooth::sim {
namespace {

std::variant<WholeAtoms, SampledSets> store_for(const HalvesParameters& parameters,
                                                const std::vector<AtomSize>& sizes) {
  check(parameters);
  if (parameters.ways == 0) return WholeAtoms(parameters, sizes);
  return SampledSets(parameters, sizes);
}

/// Of the pieces of an atom from `first` on, those in `part`; the atom has lines of `tensors`
/// tensors.
PieceMask pieces_in(const AtomPart& part, AtomId atom, int tensors, uint32_t pieces,
                    uint32_t first) {
  const PieceMask all = first_pieces(pieces - first);
  if (part.whole()) return all;
  PieceMask inside = 0;
  for_each_piece(all, [&](uint32_t i) {
    const uint64_t number = first + i;
    const double drawn = double(number) + unit_interval(mix_seed(atom, number));
    const double place = drawn / double(pieces) * tensors;
    const double share = place - std::floor(place);
    if (part.begin <= share && share < part.end) inside |= PieceMask{1} << i;
  });
  return inside;
}

}  // namespace

TwoHalves::TwoHalves(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes,
                     std::vector<uint8_t> groups, int group_count)
    : parameters_(parameters),
      sizes_(sizes),
      groups_(std::move(groups)),
      touched_(sizes.size(), 0),
      store_(store_for(parameters, sizes)),
      tallies_(static_cast<size_t>(group_count)) {}

template <class Store>
PieceMask TwoHalves::touch(Store& store, int half, AtomId atom, uint32_t first, PieceMask which,
                           bool write) {
  if (which == 0) return 0;
  return store.touch(half, atom, first, which, write, [&](AtomId owner, int64_t units) {
    tallies_[groups_[owner]].written_back += sectors_of(units);
  });
}

TwoHalves::MissedByHome TwoHalves::read(AtomId atom, std::array<bool, 2> asks,
                                        const AtomPart& part) {
  MissedByHome missed;
  const auto look_up = [&](auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask) {
      const PieceMask which = pieces_in(part, atom, sizes_[atom].tensors, pieces, first);
      std::array<PieceMask, 2> lacks{};  // of those looked up in a half
      for (const int half : {0, 1}) {
        if (asks[half]) lacks[half] = which & ~touch(store, half, atom, first, which, false);
      }
      for (const int home : {0, 1}) {
        const PieceMask at_home = which & store.at_home(atom, first, home);
        const PieceMask crossed = at_home & lacks[1 - home];
        // A copy hides its line from the home half, where no reader sits.
        if (!asks[home]) lacks[home] = crossed & ~touch(store, home, atom, first, crossed, false);
        Missed& here = missed[home];
        here.crossed += store.units(atom, first, crossed);
        here.at_home += store.units(atom, first, at_home & lacks[home]);
        if (asks[home]) here.both_asked += store.units(atom, first, crossed & lacks[home]);
      }
    }
  };
  std::visit(look_up, store_);
  Tally& tally = tally_of(atom);
  tally.reads = true;
  tally.fabric = parameters_.halves == 2;
  if (std::exchange(touched_[atom], 1) == 0) tally.cold += sizes_[atom].sectors;
  for (size_t home = 0; home < missed.size(); ++home) {
    tally.fabric_reads += sectors_of(missed[home].crossed);
    tally.dram_reads += sectors_of(missed[home].at_home);
    if (!asks[home]) tally.fabric_misses += sectors_of(missed[home].at_home);
  }
  return missed;
}

void TwoHalves::write(AtomId atom) {
  Tally& tally = tally_of(atom);
  tally.writes = tally.write_backs = true;
  touched_[atom] = 1;
  const auto put = [&](auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask) {
      const PieceMask at_first = store.at_home(atom, first, 0);
      // One after another: what one leaves free in the other half the next one may take.
      for_each_piece(first_pieces(pieces - first), [&](uint32_t i) {
        const PieceMask piece = PieceMask{1} << i;
        const int home = (at_first & piece) != 0 ? 0 : 1;
        if (touch(store, home, atom, first, piece, true) == 0) {
          tally.write_misses += sectors_of(store.units(atom, first, piece));
        }
        if (parameters_.halves == 2) store.drop(1 - home, atom, first, piece);
      });
    }
  };
  std::visit(put, store_);
}

}  // namespace sawtooth::sim
