#include "sim/timed/memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/memory_units.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::sim {
namespace {

constexpr double negligible = 1e-6;  // share of a tile's lines

double sum(const UnevenLru::Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

}  // namespace

TimedMemory::TimedMemory(const L2Parameters& parameters, int64_t sms, const UnitTable& units,
                         bool merging, uint64_t seed)
    : parameters_(parameters),
      halves_(placement_halves(sms, parameters.halves, seed)),
      units_(units),
      merging_(merging && parameters.coalescer_sms > 1),
      far_first_(units.count() * static_cast<size_t>(parameters.halves)),
      coalescers_((sms + parameters.coalescer_sms - 1) / parameters.coalescer_sms),
      touched_(units.count(), 0),
      dirty_(units.count(), 0),
      ports_(static_cast<size_t>(sms), BandwidthQueue(parameters.port_bytes_a_ns)),
      l2_(parameters.l2_bytes_a_ns),
      fabric_(parameters.fabric_bytes_a_ns),
      dram_(parameters.dram_bytes_a_ns) {
  const size_t entries = units.count() * static_cast<size_t>(parameters.halves);
  for (int half = 0; half < parameters.halves; ++half) {
    lru_.emplace_back(entries, parameters.sets);
    ready_.emplace_back(entries, 0.0);
  }
  if (merging_) outstanding_.resize(units.count() * static_cast<size_t>(coalescers_));
}

double TimedMemory::dram_read(double now_ns, double sectors, ReadTime& time, Tally& tally) {
  tally.dram_reads += sectors;
  const double passed = dram_.pass(now_ns, sectors * sector_bytes);
  time.dram_ns = std::max(time.dram_ns, passed - now_ns);
  return passed + parameters_.dram_ns;
}

// Brings the lines of `unit` whose home is `home` to `half`; returns when they are there.
double TimedMemory::fetch(double now_ns, int half, UnitId unit, int home, ReadTime& time,
                          Tally& tally) {
  const AtomSize size = units_.size(unit);
  const double parts = parameters_.halves;
  const double lines = size.lines / parts;
  const double sectors = size.sectors / parts;
  const uint32_t here = entry(unit, home);
  double& ready = ready_[static_cast<size_t>(half)][here];
  const UnevenLru::Shares not_here = lru_[static_cast<size_t>(half)].touch(here, lines);
  const double missing = sum(not_here);
  if (missing < negligible) {
    if (home == half && parameters_.halves == 2 && far_first_[here].sectors > 0) {
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
  tally.near_misses += missing * sectors;
  if (home == half) {
    ready = dram_read(now_ns, missing * sectors, time, tally);
    return ready;
  }
  tally.fabric_reads += missing * sectors;
  const double crossed = fabric_.pass(now_ns, missing * sectors * sector_bytes);
  time.fabric_ns = std::max(time.fabric_ns, crossed - now_ns);
  double& home_ready = ready_[static_cast<size_t>(home)][here];
  const UnevenLru::Shares not_home = lru_[static_cast<size_t>(home)].touch(here, lines);
  double absent = 0;
  for (size_t k = 0; k < not_here.size(); ++k) absent += std::min(not_here[k], not_home[k]);
  if (absent < negligible) {
    ready = std::max(home_ready, crossed + parameters_.far_ns);
    return ready;
  }
  tally.fabric_misses += absent * sectors;
  far_first_[here] = {now_ns, absent * sectors};
  home_ready = dram_read(crossed, absent * sectors, time, tally);
  ready = home_ready + parameters_.far_ns - parameters_.near_ns;
  return ready;
}

ReadTime TimedMemory::read(double now_ns, int64_t sm, UnitId unit, bool prefetch, double share) {
  const AtomSize size = units_.size(unit);
  Tally& tally = tallies_[static_cast<size_t>(units_.group(unit))];
  tally.read = true;
  if (touched_[unit] == 0) {
    touched_[unit] = 1;
    tally.cold += size.sectors;
  }
  const double bytes = double(size.sectors) * sector_bytes * share;
  ReadTime time;
  double asked_ns = now_ns;
  bool merged = false;
  if (!prefetch) {
    tally.sm_reads += size.sectors;
    asked_ns = ports_[static_cast<size_t>(sm)].pass(now_ns, bytes);
    if (merging_) {
      const auto at = static_cast<int64_t>(unit) * coalescers_ + sm / parameters_.coalescer_sms;
      Outstanding& last = outstanding_[static_cast<size_t>(at)];
      // Both stream the tile's lines in one order, so every line meets the other's request, or
      // none.
      merged = now_ns - last.asked_ns < last.answered_ns;
      if (!merged) last.asked_ns = now_ns;
    }
  }
  if (!merged) {
    tally.l2_reads += double(size.sectors) * share;
    asked_ns = std::max(asked_ns, l2_.pass(now_ns, bytes));
  }
  time.l2_ns = asked_ns - now_ns;
  const int half = half_of(sm);
  double arrival = 0;
  for (int home = 0; home < parameters_.halves; ++home) {
    arrival = std::max(arrival, fetch(now_ns, half, unit, home, time, tally));
  }
  if (merging_ && !prefetch && !merged) {
    const auto at = static_cast<int64_t>(unit) * coalescers_ + sm / parameters_.coalescer_sms;
    outstanding_[static_cast<size_t>(at)].answered_ns = arrival - now_ns;
  }
  // Lines stream: the last one is there when the port has passed it and its own latency is over.
  time.arrival_ns = arrival + time.l2_ns;
  time.latency_ns = time.arrival_ns - now_ns - time.l2_ns - time.fabric_ns - time.dram_ns;
  return time;
}

void TimedMemory::write(double now_ns, int64_t sm, UnitId unit) {
  const AtomSize size = units_.size(unit);
  Tally& tally = tallies_[static_cast<size_t>(units_.group(unit))];
  tally.written = true;
  tally.writes += size.sectors;
  const double bytes = double(size.sectors) * sector_bytes;
  l2_.pass(ports_[static_cast<size_t>(sm)].pass(now_ns, bytes), bytes);
  const double parts = parameters_.halves;
  const int half = half_of(sm);
  for (int home = 0; home < parameters_.halves; ++home) {
    const uint32_t at = entry(unit, home);
    const double missing = sum(lru_[static_cast<size_t>(home)].touch(at, size.lines / parts));
    if (dirty_[unit] == 0) tally.write_misses += missing * size.sectors / parts;
    if (home != half) lru_[static_cast<size_t>(half)].touch(at, size.lines / parts);
  }
  dirty_[unit] = 1;
  touched_[unit] = 1;
}

// A tile of O is written once, so what is gone of it by now has been written back once.
double TimedMemory::written_back(UnitGroup group) const {
  const double parts = parameters_.halves;
  double sectors = 0;
  for (UnitId unit = 0; unit < dirty_.size(); ++unit) {
    if (dirty_[unit] == 0 || units_.group(unit) != group) continue;
    for (int home = 0; home < parameters_.halves; ++home) {
      const double held = lru_[static_cast<size_t>(home)].held(entry(unit, home));
      sectors += (1 - held) * units_.size(unit).sectors / parts;
    }
  }
  return sectors;
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
    if (parameters_.halves == 2) {
      c.fabric_read_sectors = fabric;
      c.fabric_read_miss_sectors = fabric_misses;
    }
  }
  if (tally.written) {
    c.l2_write_miss_sectors = std::llround(tally.write_misses);
    c.dram_write_sectors = std::llround(written_back(group));
  }
  return c;
}

}  // namespace sawtooth::sim
