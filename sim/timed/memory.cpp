#include "sim/timed/memory.hpp"

#include <algorithm>
#include <cmath>

#include "scheduler/memory_units.hpp"
#include "scheduler/permutation.hpp"
#include "sim/halves/unit_interval.hpp"

namespace sawtooth::sim {
namespace {

std::variant<WholeAtoms, SampledSets> lines_for(const HalvesParameters& parameters,
                                                const std::vector<AtomSize>& sizes) {
  check(parameters);
  if (parameters.ways == 0) return WholeAtoms(parameters, sizes);
  return SampledSets(parameters, sizes);
}

double sectors_of(const Piece& piece) {
  return double(piece.units) / units_per_sector;
}

}  // namespace

TimedMemory::TimedMemory(const L2Parameters& parameters, int64_t sms, const UnitTable& units,
                         bool merging)
    : parameters_(parameters),
      placed_(placed_sms(sms, parameters.lines.halves, parameters.half_of_sms)),
      units_(units),
      merging_(merging && parameters.coalescer_sms > 1),
      l2_lines_(lines_for(parameters.lines, units.sizes())),
      far_first_(units.count() * static_cast<size_t>(parameters.lines.halves)),
      coalescers_((sms + parameters.coalescer_sms - 1) / parameters.coalescer_sms),
      touched_(units.count(), 0),
      ports_(static_cast<size_t>(sms), BandwidthQueue(parameters.port_bytes_a_ns)),
      l2_(parameters.l2_bytes_a_ns),
      fabric_(parameters.fabric_bytes_a_ns),
      dram_(parameters.dram_bytes_a_ns) {
  const size_t entries = units.count() * static_cast<size_t>(parameters.lines.halves);
  for (int half = 0; half < parameters.lines.halves; ++half) {
    ready_.emplace_back(entries, 0.0);
  }
  if (merging_) outstanding_.resize(units.count() * static_cast<size_t>(coalescers_));
}

void TimedMemory::write_back(AtomId owner, int64_t units) {
  tallies_[static_cast<size_t>(units_.group(owner))].written_back +=
      double(units) / units_per_sector;
}

double TimedMemory::dram_read(double now_ns, double sectors, ReadTime& time, Tally& tally) {
  tally.dram_reads += sectors;
  const double passed = dram_.pass(now_ns, sectors * sector_bytes);
  time.dram_ns = std::max(time.dram_ns, passed - now_ns);
  return passed + parameters_.dram_ns;
}

// Looks lines of a unit up in `half`, and those that it lacks at their home; all of them are then
// there. A piece that stands for several lines is in the part that has one of them, drawn by
// chance: parts that make up the tile have every piece once.
TimedMemory::Missing TimedMemory::look_up(int half, UnitId unit, const TilePart& part) {
  Missing missing;
  const auto evicted = [&](AtomId owner, int64_t units) { write_back(owner, units); };
  const auto touch = [&](auto& lines, const Piece& piece) {
    if (lines.touch(half, piece, false, evicted)) return;
    const auto home = static_cast<size_t>(piece.home);
    missing.here[home] += sectors_of(piece);
    if (piece.home == half || !lines.touch(piece.home, piece, false, evicted)) {
      missing.anywhere[home] += sectors_of(piece);
    }
  };
  std::visit(
      [&](auto& lines) {
        if (part.begin <= 0 && part.end >= 1) {
          lines.for_pieces(unit, [&](const Piece& piece) { touch(lines, piece); });
          return;
        }
        const auto pieces = double(lines.pieces(unit));
        const auto tensors = double(units_.size(unit).tensors);
        uint64_t number = 0;
        lines.for_pieces(unit, [&](const Piece& piece) {
          const double drawn = double(number) + unit_interval(mix_seed(unit, number));
          ++number;
          const double place = drawn / pieces * tensors;
          const double share = place - std::floor(place);
          if (part.begin <= share && share < part.end) touch(lines, piece);
        });
      },
      l2_lines_);
  return missing;
}

// Brings the lines of `unit` whose home is `home` to `half`; returns when they are there.
double TimedMemory::fetch(double now_ns, int half, UnitId unit, int home, const Missing& missing,
                          ReadTime& time, Tally& tally) {
  const double not_here = missing.here[static_cast<size_t>(home)];
  const double absent = missing.anywhere[static_cast<size_t>(home)];
  const uint32_t here = entry(unit, home);
  double& ready = ready_[static_cast<size_t>(half)][here];
  if (not_here == 0) {
    if (home == half && parameters_.lines.halves == 2 && far_first_[here].sectors > 0) {
      // Had this half asked before the other half's request had crossed the fabric, its own lookup
      // would have missed: the nearer the two, the more lines are counted as this half's miss.
      FarFirst& far = far_first_[here];
      const double hop_ns = parameters_.far_ns - parameters_.near_ns;
      const double gap_ns = now_ns - far.ns;
      if (gap_ns < hop_ns) {
        const double beaten = far.sectors * (1 - gap_ns / hop_ns);
        tally.near_misses += beaten;
        tally.fabric_misses -= beaten;
      }
      far.sectors = 0;
    }
    return std::max(ready, now_ns + parameters_.near_ns);
  }
  tally.near_misses += not_here;
  if (home == half) {
    ready = dram_read(now_ns, not_here, time, tally);
    return ready;
  }
  tally.fabric_reads += not_here;
  const double crossed = fabric_.pass(now_ns, not_here * sector_bytes);
  time.fabric_ns = std::max(time.fabric_ns, crossed - now_ns);
  double& home_ready = ready_[static_cast<size_t>(home)][here];
  if (absent == 0) {
    ready = std::max(home_ready, crossed + parameters_.far_ns);
    return ready;
  }
  tally.fabric_misses += absent;
  far_first_[here] = {now_ns, absent};
  home_ready = dram_read(crossed, absent, time, tally);
  ready = home_ready + parameters_.far_ns - parameters_.near_ns;
  return ready;
}

TimedMemory::Tally& TimedMemory::note_read(UnitId unit) {
  Tally& tally = tallies_[static_cast<size_t>(units_.group(unit))];
  tally.read = true;
  if (touched_[unit] == 0) {
    touched_[unit] = 1;
    tally.cold += units_.size(unit).sectors;
  }
  return tally;
}

ReadTime TimedMemory::read(double now_ns, int64_t sm, UnitId unit) {
  const AtomSize size = units_.size(unit);
  Tally& tally = note_read(unit);
  const double bytes = double(size.sectors) * sector_bytes;
  ReadTime time;
  tally.sm_reads += size.sectors;
  double asked_ns = ports_[static_cast<size_t>(sm)].pass(now_ns, bytes);
  Outstanding* last = nullptr;
  if (merging_) {
    const auto at = static_cast<int64_t>(unit) * coalescers_ + sm / parameters_.coalescer_sms;
    last = &outstanding_[static_cast<size_t>(at)];
  }
  // Both stream the tile's lines in one order, so every line meets the other's request, or none.
  const bool merged = last != nullptr && now_ns - last->asked_ns < last->answered_ns;
  if (!merged) {
    if (last != nullptr) last->asked_ns = now_ns;
    tally.l2_reads += double(size.sectors);
    asked_ns = std::max(asked_ns, l2_.pass(now_ns, bytes));
  }
  time.l2_ns = asked_ns - now_ns;
  const int half = placed(sm).half;
  const Missing missing = look_up(half, unit);
  double arrival = 0;
  for (int home = 0; home < parameters_.lines.halves; ++home) {
    arrival = std::max(arrival, fetch(now_ns, half, unit, home, missing, time, tally));
  }
  if (last != nullptr && !merged) last->answered_ns = arrival - now_ns;
  // Lines stream: the last one is there when the port has passed it and its own latency is over.
  time.arrival_ns = arrival + time.l2_ns;
  time.latency_ns = time.arrival_ns - now_ns - time.l2_ns - time.fabric_ns - time.dram_ns;
  return time;
}

void TimedMemory::prefetch(double now_ns, int64_t sm, UnitId unit, const TilePart& part) {
  Tally& tally = note_read(unit);
  const double sectors = double(units_.size(unit).sectors) * (part.end - part.begin);
  tally.l2_reads += sectors;
  l2_.pass(now_ns, sectors * sector_bytes);
  const int half = placed(sm).half;
  const Missing missing = look_up(half, unit, part);
  ReadTime nobody_waits;
  for (int home = 0; home < parameters_.lines.halves; ++home) {
    if (missing.here[static_cast<size_t>(home)] == 0) continue;
    fetch(now_ns, half, unit, home, missing, nobody_waits, tally);
  }
}

void TimedMemory::write(double now_ns, int64_t sm, UnitId unit) {
  const AtomSize size = units_.size(unit);
  Tally& tally = tallies_[static_cast<size_t>(units_.group(unit))];
  tally.written = true;
  tally.writes += size.sectors;
  const double bytes = double(size.sectors) * sector_bytes;
  l2_.pass(ports_[static_cast<size_t>(sm)].pass(now_ns, bytes), bytes);
  const auto evicted = [&](AtomId owner, int64_t units) { write_back(owner, units); };
  std::visit(
      [&](auto& lines) {
        lines.for_pieces(unit, [&](const Piece& piece) {
          if (!lines.touch(piece.home, piece, true, evicted))
            tally.write_misses += sectors_of(piece);
          if (parameters_.lines.halves == 2) lines.drop(1 - piece.home, piece);
        });
      },
      l2_lines_);
  touched_[unit] = 1;
}

Counters TimedMemory::counters(UnitGroup group) const {
  const Tally& tally = tallies_[static_cast<size_t>(group)];
  Counters c;
  c.sm_read_sectors = tally.sm_reads;
  c.l2_read_sectors = std::llround(tally.l2_reads);
  c.cold_read_sectors = tally.cold;
  c.l2_write_sectors = tally.writes;
  if (tally.read) {
    const int64_t dram = std::llround(tally.dram_reads);
    const int64_t fabric = std::llround(tally.fabric_reads);
    const int64_t fabric_misses = std::llround(tally.fabric_misses);
    c.dram_read_sectors = dram;
    c.l2_read_miss_sectors = dram - fabric_misses + fabric;
    if (parameters_.lines.halves == 2) {
      c.fabric_read_sectors = fabric;
      c.fabric_read_miss_sectors = fabric_misses;
    }
  }
  if (tally.written) {
    c.l2_write_miss_sectors = std::llround(tally.write_misses);
    c.dram_write_sectors = std::llround(tally.written_back);
  }
  return c;
}

}  // namespace sawtooth::sim
