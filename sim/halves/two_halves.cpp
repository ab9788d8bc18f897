#include "sim/halves/two_halves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "scheduler/permutation.hpp"
#include "sim/halves/set_placement.hpp"

namespace sawtooth::sim {
namespace {

std::variant<WholeAtoms, SampledSets> store_for(const HalvesParameters& parameters,
                                                const std::vector<AtomSize>& sizes) {
  check(parameters);
  if (parameters.ways > 0) return SampledSets(parameters, sizes);
  WholeAtoms whole(parameters);
  whole.begin({.sizes = sizes});
  return whole;
}

std::variant<WholeAtoms, SampledSets> store_for(const HalvesParameters& parameters,
                                                const LiveAtoms& heads) {
  check(parameters);
  if (parameters.ways > 0) return SampledSets(parameters, heads);
  return WholeAtoms(parameters);
}

/// The result has those pieces of atom `number` from `first` on that lie in `part`; the atom has
/// lines of `tensors` tensors.
PieceMask pieces_in(const AtomPart& part, uint64_t number, int tensors, uint32_t pieces,
                    uint32_t first) {
  PieceMask inside = 0;
  for_each_piece(first_pieces(pieces - first), [&](uint32_t i) {
    const uint64_t piece = first + i;
    const double drawn = double(piece) + unit_interval(mix_seed(number, piece));
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
      numbers_(sizes.size()),
      groups_(std::move(groups)),
      touched_(sizes.size(), 0),
      store_(store_for(parameters, sizes)),
      tallies_(static_cast<size_t>(group_count)) {
  std::iota(numbers_.begin(), numbers_.end(), uint64_t{0});
}

TwoHalves::TwoHalves(const HalvesParameters& parameters, const LiveAtoms& heads)
    : parameters_(parameters), store_(store_for(parameters, heads)), tallies_(tensor_count) {
  // Every launch reads K, unless all its sequences are empty: then its reads are 0, not unknown.
  Tally& tally = tallies_[static_cast<size_t>(Tensor::k)];
  tally.reads = true;
  tally.fabric = parameters_.halves == 2;
}

void TwoHalves::begin(const HeadRun& run) {
  const size_t end = run.begin + run.sizes.size();
  const size_t count = std::max(sizes_.size(), end);
  sizes_.resize(count);
  numbers_.resize(count);
  groups_.resize(count);
  touched_.resize(count);
  std::copy(run.sizes.begin(), run.sizes.end(), sizes_.begin() + run.begin);
  std::iota(numbers_.begin() + run.begin, numbers_.begin() + static_cast<ptrdiff_t>(end),
            static_cast<uint64_t>(run.number));
  std::fill_n(groups_.begin() + run.begin, run.sizes.size(), static_cast<uint8_t>(run.tensor));
  std::fill_n(touched_.begin() + run.begin, run.sizes.size(), uint8_t{0});
  std::visit([&](auto& store) { store.begin(run); }, store_);
}

void TwoHalves::settle() {
  std::visit([this](auto& store) { store.settle(count_written_back()); }, store_);
}

bool TwoHalves::holds(AtomRange atoms) const {
  const auto any_held = [&](const auto& store) {
    for (AtomId atom = atoms.begin; atom < atoms.end; ++atom)
      if (store.holds(atom)) return true;
    return false;
  };
  return std::visit(any_held, store_);
}

template <class Store>
PieceMask TwoHalves::touch(Store& store, int half, AtomId atom, uint32_t first, PieceMask which,
                           Access access) {
  if (which == 0) return 0;
  return store.touch(half, atom, first, which, access, count_written_back());
}

TwoHalves::MissedByHome TwoHalves::read(AtomId atom, std::array<bool, 2> asks, const AtomPart& part,
                                        Access access) {
  MissedByHome missed;
  const auto look_up = [&](auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask) {
      const PieceMask which =
          part.whole() ? first_pieces(pieces - first)
                       : pieces_in(part, numbers_[atom], sizes_[atom].tensors, pieces, first);
      std::array<PieceMask, 2> lacks{};  // of those looked up in a half
      for (int half = asks[0] ? 0 : 1; half < (asks[1] ? 2 : 1); ++half)
        lacks[half] = which & ~touch(store, half, atom, first, which, Access::read);
      if ((lacks[0] | lacks[1]) == 0) continue;
      PieceMask at_home = which & store.at_home(atom, first, 0);
      for (const int home : {0, 1}) {
        Missed& here = missed[home];
        if (const PieceMask crossed = at_home & lacks[1 - home]; crossed != 0) {
          here.crossed += store.units(atom, first, crossed);
          if (asks[home])
            here.both_asked += store.units(atom, first, crossed & lacks[home]);
          else  // a copy hides its line from the home half, where no reader sits
            lacks[home] = crossed & ~touch(store, home, atom, first, crossed, Access::read);
        }
        here.at_home += store.units(atom, first, at_home & lacks[home]);
        at_home ^= which;
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
    if (access == Access::prefetch && tally.fabric)
      tally.prefetched += sectors_of(missed[home].at_home);
    else if (!asks[home])
      tally.fabric_misses += sectors_of(missed[home].at_home);
  }
  return missed;
}

// Makes the lines of `atom` dirty at their homes; the other half has a copy afterwards if it is to,
// and drops the one that it had otherwise. Returns the units that were not at home.
int64_t TwoHalves::put(AtomId atom, Access access, std::array<bool, 2> copies) {
  tally_of(atom).write_backs = true;
  int64_t missed = 0;
  const auto put_in = [&](auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask) {
      // One after another: what one leaves free in the other half the next one may take.
      for (PieceMask left = first_pieces(pieces - first); left != 0;) {
        const PieceMask some = store.independent(atom, first, left);
        left &= ~some;
        for (int home = 0; home < parameters_.halves; ++home) {
          const PieceMask here = some & store.at_home(atom, first, home);
          missed += store.units(atom, first, here & ~touch(store, home, atom, first, here, access));
          if (parameters_.halves != 2) continue;
          if (copies[1 - home])
            touch(store, 1 - home, atom, first, here, Access::read);
          else
            store.drop(1 - home, atom, first, here, count_written_back());
        }
      }
    }
  };
  std::visit(put_in, store_);
  return missed;
}

void TwoHalves::write(AtomId atom, std::array<bool, 2> from) {
  Tally& tally = tally_of(atom);
  tally.writes = true;
  touched_[atom] = 1;
  tally.write_misses += sectors_of(put(atom, Access::write, from));
}

void TwoHalves::receive(AtomId atom, Copier copier) {
  Tally& tally = tally_of(atom);
  tally.linked = true;
  tally.incoming += sizes_[atom].sectors;
  touched_[atom] = copier == Copier::sms;
  if (copier == Copier::sms) {
    put(atom, Access::write, {});
    return;
  }
  tally.write_backs = true;
  tally.written_back += sizes_[atom].sectors;
  const auto leave = [&](auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask)
      for (int half = 0; half < parameters_.halves; ++half)
        store.drop(half, atom, first, first_pieces(pieces - first), count_written_back());
  };
  std::visit(leave, store_);
}

double TwoHalves::send(AtomId atom, Copier copier) {
  int64_t missed = 0;
  const auto look_up = [&](auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask)
      for (int home = 0; home < parameters_.halves; ++home) {
        const PieceMask here = first_pieces(pieces - first) & store.at_home(atom, first, home);
        const PieceMask held = copier == Copier::sms
                                   ? touch(store, home, atom, first, here, Access::read)
                                   : store.held(home, atom, first, here);
        missed += store.units(atom, first, here & ~held);
      }
  };
  std::visit(look_up, store_);
  Tally& tally = tally_of(atom);
  tally.linked = tally.reads = true;
  tally.fabric = parameters_.halves == 2;
  if (copier == Copier::sms && std::exchange(touched_[atom], 1) == 0)
    tally.cold += sizes_[atom].sectors;
  tally.outgoing += sizes_[atom].sectors;
  tally.sent_misses += sectors_of(missed);
  return sectors_of(missed);
}

void TwoHalves::reduce(AtomId atom, std::array<uint32_t, 2> times) {
  Tally& tally = tally_of(atom);
  tally.reads = tally.reductions = true;
  tally.fabric = parameters_.halves == 2;
  if (std::exchange(touched_[atom], 1) == 0) tally.cold += sizes_[atom].sectors;
  // What does not fit is driven out by its own lines, and comes back each time.
  const bool fits = sizes_[atom].lines <= parameters_.capacity_lines * parameters_.halves;
  const uint32_t all = times[0] + times[1];
  for (uint32_t i = 0; i < (fits ? 1 : all); ++i)
    tally.fill_reads += sectors_of(put(atom, Access::reduce, {}));
  tally.reduced += double(sizes_[atom].sectors) * all;
  if (parameters_.halves != 2) return;
  const auto crossing = [&](const auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask) {
      for (const int home : {0, 1}) {
        const PieceMask here = store.at_home(atom, first, home);
        tally.reduced +=
            sectors_of(store.units(atom, first, here)) * times[static_cast<size_t>(1 - home)];
      }
    }
  };
  std::visit(crossing, store_);
}

}  // namespace sawtooth::sim
