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

/// Calls `visit` for the pieces of `part` of an atom that has lines of `tensors` tensors.
template <class Store, class Visit>
void for_pieces_of(Store& store, AtomId atom, int tensors, const AtomPart& part, Visit visit) {
  if (part.whole()) return store.for_pieces(atom, visit);
  const auto pieces = double(store.pieces(atom));
  uint64_t number = 0;
  store.for_pieces(atom, [&](const Piece& piece) {
    const double drawn = double(number) + unit_interval(mix_seed(atom, number));
    ++number;
    const double place = drawn / pieces * tensors;
    const double share = place - std::floor(place);
    if (part.begin <= share && share < part.end) visit(piece);
  });
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
bool TwoHalves::touch(Store& store, int half, const Piece& piece, bool write) {
  return store.touch(half, piece, write, [&](AtomId owner, int64_t units) {
    tallies_[groups_[owner]].written_back += sectors_of(units);
  });
}

TwoHalves::MissedByHome TwoHalves::read(AtomId atom, std::array<bool, 2> asks,
                                        const AtomPart& part) {
  MissedByHome missed;
  const auto look_up = [&](auto& store) {
    store.begin_visit();
    if (part.whole() && asks[0] != asks[1] && store.touch_whole(asks[1] ? 1 : 0, atom)) return;
    for_pieces_of(store, atom, sizes_[atom].tensors, part, [&](const Piece& piece) {
      const auto home = static_cast<size_t>(piece.home);
      Missed& here = missed[home];
      const int far = 1 - piece.home;
      const bool crosses = asks[1 - home] && !touch(store, far, piece, false);
      if (crosses) here.crossed += piece.units;
      if (!asks[home] && !crosses) return;  // a copy hides its line from the home half
      if (touch(store, piece.home, piece, false)) return;
      here.at_home += piece.units;
      if (crosses && asks[home]) here.both_asked += piece.units;
    });
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
    store.begin_visit();
    store.for_pieces(atom, [&](const Piece& piece) {
      if (!touch(store, piece.home, piece, true)) tally.write_misses += sectors_of(piece.units);
      if (parameters_.halves == 2) store.drop(1 - piece.home, piece);
    });
  };
  std::visit(put, store_);
}

}  // namespace sawtooth::sim
