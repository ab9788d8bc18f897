#include "sim/halves/two_halves.hpp"

#include <algorithm>
#include <cmath>

namespace sawtooth::sim {
namespace {

// `running` forgets over this share of a half's lines read. In `all` streams that turn from hits to
// misses the far half's lead decays over some 10 to 20 MiB
// (experiments/data/h200/streams/five_pass_fit.csv).
constexpr double running_memory = 0.5;

std::variant<WholeAtoms, SampledSets> store_for(const HalvesParameters& parameters,
                                                const std::vector<AtomSize>& sizes) {
  check(parameters);
  if (parameters.ways == 0) return WholeAtoms(parameters, sizes);
  return SampledSets(parameters, sizes);
}

}  // namespace

TwoHalves::TwoHalves(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes,
                     std::vector<uint8_t> groups, int group_count)
    : parameters_(parameters),
      sizes_(sizes),
      groups_(std::move(groups)),
      store_(store_for(parameters, sizes)),
      tallies_(static_cast<size_t>(group_count)) {}

template <class Store>
bool TwoHalves::touch(Store& store, int half, const Piece& piece, bool write) {
  return store.touch(half, piece, write, [&](AtomId owner, int64_t units) {
    tallies_[groups_[owner]].dram_writes += units;
  });
}

void TwoHalves::visit(const HalfVisit& visit) {
  Tally& tally = tallies_[override_ >= 0 ? static_cast<size_t>(override_) : groups_[visit.atom]];
  std::visit(
      [&](auto& store) {
        if (visit.access == Access::write) {
          write(store, visit.atom, tally);
        } else {
          read(store, visit, tally);
        }
      },
      store_);
}

template <class Store>
void TwoHalves::read(Store& store, const HalfVisit& visit, Tally& tally) {
  tally.read = true;
  const double far_first =
      parameters_.far_first_waiting +
      (parameters_.far_first_running - parameters_.far_first_waiting) * running_;
  const bool two = parameters_.halves == 2;
  int64_t missed = 0;
  store.for_pieces(visit.atom, [&](const Piece& piece) {
    const int far = 1 - piece.home;
    const bool far_asks = two && visit.times[static_cast<size_t>(far)] > 0;
    const bool home_asks = !far_asks || visit.times[static_cast<size_t>(piece.home)] > 0;
    const bool copied = far_asks && touch(store, far, piece, false);
    const bool crosses = far_asks && !copied;
    if (crosses) tally.fabric_reads += piece.units;
    if (!home_asks && !crosses) return;  // a copy hides its line from the home half
    if (touch(store, piece.home, piece, false)) return;
    missed += piece.units;
    if (crosses && home_asks) {
      tally.far_first += far_first * double(piece.units);
    } else if (crosses) {
      tally.fabric_misses += piece.units;
    }
  });
  tally.home_misses += missed;
  const AtomSize size = sizes_[visit.atom];
  const double asked = double(size.sectors) * units_per_sector;
  const double pace =
      std::min(1.0, double(size.lines) / (running_memory * double(parameters_.capacity_lines)));
  running_ += (1 - double(missed) / asked - running_) * pace;
}

template <class Store>
void TwoHalves::write(Store& store, AtomId atom, Tally& tally) {
  tally.written = true;
  store.for_pieces(atom, [&](const Piece& piece) {
    if (!touch(store, piece.home, piece, true)) tally.write_misses += piece.units;
    if (parameters_.halves == 2) store.drop(1 - piece.home, piece);
  });
}

Counters TwoHalves::counters(int group) const {
  const Tally& tally = tallies_[static_cast<size_t>(group)];
  const auto sectors = [](int64_t units) { return (units + 1) / units_per_sector; };
  Counters counters;
  const int64_t dram = sectors(tally.home_misses);
  const int64_t fabric = sectors(tally.fabric_reads);
  const int64_t fabric_misses = sectors(tally.fabric_misses + std::llround(tally.far_first));
  if (tally.read) {
    counters.l2_read_miss_sectors = dram - fabric_misses + fabric;
    counters.dram_read_sectors = dram;
    if (parameters_.halves == 2) {
      counters.fabric_read_sectors = fabric;
      counters.fabric_read_miss_sectors = fabric_misses;
    }
  }
  if (tally.written) counters.l2_write_miss_sectors = sectors(tally.write_misses);
  counters.dram_write_sectors = sectors(tally.dram_writes);
  return counters;
}

}  // namespace sawtooth::sim
