#include "sim/halves/two_halves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "scheduler/permutation.hpp"

namespace sawtooth::sim {
namespace {

void require(bool good, const char* name, double value, const char* allowed) {
  if (good) return;
  throw std::invalid_argument(std::string("halves: ") + name + " = " + std::to_string(value) +
                              ", allowed: " + allowed);
}

std::variant<WholeAtoms, SampledSets> store_for(const HalvesParameters& parameters,
                                                const LiveAtoms* heads) {
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

void check(const HalvesParameters& p) {
  require(p.halves == 1 || p.halves == 2, "halves", p.halves, "1 or 2");
  require(p.capacity_lines > 0, "capacity_lines", double(p.capacity_lines), "1 or more");
  require(p.ways >= 0 && p.ways <= 256, "ways", p.ways, "0 (off) to 256");
  require(p.ways <= p.capacity_lines, "ways", p.ways, "at most the capacity in lines");
  require(p.dirty_ways >= 0 && p.dirty_ways <= p.ways, "dirty_ways", p.dirty_ways,
          "0 (all) to the ways");
  require(p.reserved >= 0 && p.reserved * std::max(p.ways, 2) < 1, "reserved", p.reserved,
          "0 to below 1 / ways");
  require(p.ways != 1 || p.reserved == 0, "reserved", p.reserved, "0 with one way");
  require(p.scattered >= 0 && p.scattered <= 1, "scattered", p.scattered, "0 to 1");
  require(p.far_first_waiting >= 0 && p.far_first_waiting <= 1, "far_first_waiting",
          p.far_first_waiting, "0 to 1");
  require(p.far_first_running >= 0 && p.far_first_running <= 1, "far_first_running",
          p.far_first_running, "0 to 1");
  require(p.running_share > 0 && p.running_share <= 1, "running_share", p.running_share,
          "above 0 to 1");
}

TwoHalves::TwoHalves(const HalvesParameters& parameters, const LiveAtoms* heads)
    : parameters_(parameters), store_(store_for(parameters, heads)) {
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
  tensors_.resize(count);
  touched_.resize(count);
  std::copy(run.sizes.begin(), run.sizes.end(), sizes_.begin() + run.begin);
  std::iota(numbers_.begin() + run.begin, numbers_.begin() + static_cast<ptrdiff_t>(end),
            static_cast<uint64_t>(run.number));
  std::fill_n(tensors_.begin() + run.begin, run.sizes.size(), run.tensor);
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

/// function(store, first, those of the mask's pieces that the atom has).
template <class Function>
void TwoHalves::for_each_mask(AtomId atom, Function function) {
  const auto of_store = [&](auto& store) {
    const uint32_t pieces = store.pieces(atom);
    for (uint32_t first = 0; first < pieces; first += pieces_a_mask)
      function(store, first, first_pieces(pieces - first));
  };
  std::visit(of_store, store_);
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
  for_each_mask(atom, [&](auto& store, uint32_t first, PieceMask all) {
    const PieceMask which = part.whole() ? all
                                         : pieces_in(part, numbers_[atom], sizes_[atom].tensors,
                                                     store.pieces(atom), first);
    if (access == Access::prefetch)
      for (const int home : {0, 1})
        missed[home].asked += store.units(atom, first, which & store.at_home(atom, first, home));
    std::array<PieceMask, 2> lacks{};  // of those looked up in a half
    for (int half = asks[0] ? 0 : 1; half < (asks[1] ? 2 : 1); ++half)
      lacks[half] = which & ~touch(store, half, atom, first, which, Access::read);
    if ((lacks[0] | lacks[1]) == 0) return;
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
  });
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
  for_each_mask(atom, [&](auto& store, uint32_t first, PieceMask left) {
    // One after another: what one leaves free in the other half the next one may take.
    while (left != 0) {
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
  });
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
  for_each_mask(atom, [&](auto& store, uint32_t first, PieceMask all) {
    for (int half = 0; half < parameters_.halves; ++half)
      store.drop(half, atom, first, all, count_written_back());
  });
}

double TwoHalves::send(AtomId atom, Copier copier) {
  int64_t missed = 0;
  for_each_mask(atom, [&](auto& store, uint32_t first, PieceMask all) {
    for (int home = 0; home < parameters_.halves; ++home) {
      const PieceMask here = all & store.at_home(atom, first, home);
      const PieceMask held = copier == Copier::sms
                                 ? touch(store, home, atom, first, here, Access::read)
                                 : store.held(home, atom, first, here);
      missed += store.units(atom, first, here & ~held);
    }
  });
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
  for_each_mask(atom, [&](const auto& store, uint32_t first, PieceMask) {
    for (const int home : {0, 1}) {
      const PieceMask here = store.at_home(atom, first, home);
      tally.reduced +=
          sectors_of(store.units(atom, first, here)) * times[static_cast<size_t>(1 - home)];
    }
  });
}

}  // namespace sawtooth::sim
