#include "sim/halves/two_halves.hpp"

#include <algorithm>
#include <cmath>

namespace sawtooth::sim {

TwoHalves::TwoHalves(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes,
                     std::vector<uint8_t> groups, int group_count)
    : parameters_(parameters),
      classes_(set_classes(parameters)),
      sizes_(sizes),
      groups_(std::move(groups)),
      readers_(sizes.size(), 0),
      tallies_(static_cast<size_t>(group_count)) {
  for (size_t c = 0; c < classes_.size(); ++c) {
    for (int half = 0; half < parameters_.halves; ++half) {
      halves_.emplace_back(sizes_.size() * static_cast<size_t>(parameters_.halves),
                           parameters_.capacity_lines * weight_units * weight_units);
    }
  }
}

int64_t TwoHalves::units(const SetClass& set_class, int home) const {
  if (parameters_.halves == 1) return weight_units;
  return home == 0 ? set_class.home_units : weight_units - set_class.home_units;
}

bool TwoHalves::touch(size_t set_class, int half, AtomId atom, int home, bool write) {
  const auto halves = static_cast<uint32_t>(parameters_.halves);
  AtomLru& lru = halves_[set_class * halves + static_cast<uint32_t>(half)];
  const int64_t weight = sizes_[atom].lines * units(classes_[set_class], home) *
                         classes_[set_class].reader_units[readers_[atom]];
  const auto entry = static_cast<AtomLru::Entry>(atom * halves + static_cast<uint32_t>(home));
  return lru.touch(entry, weight, write, [&](AtomLru::Entry gone, bool dirty) {
    if (!dirty) return;
    const AtomId owner = gone / halves;
    tallies_[groups_[owner]].dram_writes +=
        sizes_[owner].sectors * units(classes_[set_class], static_cast<int>(gone % halves));
  });
}

void TwoHalves::visit(const HalfVisit& visit) {
  Tally& tally = tallies_[override_ >= 0 ? static_cast<size_t>(override_) : groups_[visit.atom]];
  if (visit.access == Access::write) {
    write(visit.atom, tally);
  } else {
    read(visit, tally);
  }
}

void TwoHalves::read(const HalfVisit& visit, Tally& tally) {
  tally.read = true;
  for (int half = 0; half < parameters_.halves; ++half) {
    if (visit.times[static_cast<size_t>(half)] > 0) readers_[visit.atom] |= uint8_t(1 << half);
  }
  const AtomSize size = sizes_[visit.atom];
  const double far_first =
      parameters_.far_first_waiting +
      (parameters_.far_first_running - parameters_.far_first_waiting) * running_;
  int64_t missed = 0;
  for (size_t c = 0; c < classes_.size(); ++c) {
    for (int home = 0; home < parameters_.halves; ++home) {
      const int far = 1 - home;
      const int64_t sectors = size.sectors * units(classes_[c], home);
      const bool far_asks = parameters_.halves == 2 && visit.times[static_cast<size_t>(far)] > 0;
      const bool home_asks = !far_asks || visit.times[static_cast<size_t>(home)] > 0;
      const bool copied = far_asks && touch(c, far, visit.atom, home, false);
      const bool crosses = far_asks && !copied;
      if (crosses) tally.fabric_reads += sectors;
      if (!home_asks && !crosses) continue;  // a copy hides its line from the home half
      if (touch(c, home, visit.atom, home, false)) continue;
      missed += sectors;
      if (crosses && home_asks) {
        tally.far_first += far_first * double(sectors);
      } else if (crosses) {
        tally.fabric_misses += sectors;
      }
    }
  }
  tally.home_misses += missed;
  // `running` forgets over one capacity of lines read, as the cache itself does.
  const double read_units = double(size.sectors) * weight_units * double(classes_.size());
  const double pace = std::min(1.0, double(size.lines) / double(parameters_.capacity_lines));
  running_ += (1 - double(missed) / read_units - running_) * pace;
}

void TwoHalves::write(AtomId atom, Tally& tally) {
  tally.written = true;
  for (size_t c = 0; c < classes_.size(); ++c) {
    for (int home = 0; home < parameters_.halves; ++home) {
      if (!touch(c, home, atom, home, true)) {
        tally.write_misses += sizes_[atom].sectors * units(classes_[c], home);
      }
      if (parameters_.halves == 1) continue;
      AtomLru& other = halves_[c * 2 + static_cast<size_t>(1 - home)];
      const auto copy = static_cast<AtomLru::Entry>(atom * 2 + static_cast<AtomId>(home));
      if (other.holds(copy)) other.drop(copy);
    }
  }
}

Counters TwoHalves::counters(int group) const {
  const Tally& tally = tallies_[static_cast<size_t>(group)];
  const auto whole = static_cast<int64_t>(classes_.size()) * weight_units;
  const auto sectors = [&](int64_t count) { return (count + whole / 2) / whole; };
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
