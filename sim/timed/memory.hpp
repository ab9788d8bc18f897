// The memory behind the SMs, in time: ports, request coalescer, L2 (one block or two halves joined
// by a fabric) and DRAM. It answers when data arrives, and counts what the hardware counts.
//
// A read passes its SM's port and the coalescer, and looks its lines up in the near half. Lines
// that are missing there come from DRAM if their home is here, otherwise over the fabric from their
// home, which asks DRAM for those that it lacks, and are then kept in both halves. Lines that are
// on their way are not asked for again: whoever wants them waits for them. A write takes the same
// way as a read, without a fill: its lines are then in its home half, and nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "sim/counters.hpp"
#include "sim/halves/sampled_sets.hpp"
#include "sim/halves/whole_atoms.hpp"
#include "sim/timed/bandwidth_queue.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/placement.hpp"
#include "sim/timed/units.hpp"

namespace sawtooth::sim {

/// Where the time of a read went, in nanoseconds; they sum to its arrival minus its request.
struct ReadTime {
  double arrival_ns = 0;
  double l2_ns = 0;       // waiting for the SM's port and for L2's bandwidth
  double fabric_ns = 0;   // waiting for the fabric's bandwidth
  double dram_ns = 0;     // waiting for DRAM's bandwidth
  double latency_ns = 0;  // the rest: nobody is in the way, it just takes its time
};

/// Lines of a tile from `begin` to `end`, as shares of its lines; of K as of V.
struct TilePart {
  double begin = 0;
  double end = 1;
};

class TimedMemory {
 public:
  TimedMemory(const L2Parameters& parameters, int64_t sms, const UnitTable& units, bool merging);

  /// SM `sm` asks for `unit` at `now_ns`; calls must be in order of time.
  ReadTime read(double now_ns, int64_t sm, UnitId unit);
  /// The same for a part of its lines, which move into L2 and not to the SM.
  void prefetch(double now_ns, int64_t sm, UnitId unit, const TilePart& part);
  void write(double now_ns, int64_t sm, UnitId unit);

  Counters counters(UnitGroup group) const;

  /// SMs are numbered in the order of placement.
  const std::vector<PlacedSm>& placed() const { return placed_; }
  const PlacedSm& placed(int64_t sm) const { return placed_[static_cast<size_t>(sm)]; }

 private:
  struct Tally {
    int64_t sm_reads = 0;
    int64_t writes = 0;
    int64_t cold = 0;
    double l2_reads = 0;
    double near_misses = 0;
    double fabric_reads = 0;
    double fabric_misses = 0;
    double dram_reads = 0;
    double write_misses = 0;
    double written_back = 0;
    bool read = false;
    bool written = false;
  };
  // The last time that the far half's SMs fetched lines of a unit from DRAM through their home.
  struct FarFirst {
    double ns = -1e300;
    double sectors = 0;
  };
  // The latest request of a coalescer's SMs for a unit, and when its answer is there.
  struct Outstanding {
    double asked_ns = -1e300;
    double answered_ns = -1e300;
  };

  uint32_t entry(UnitId unit, int home) const {
    return unit * static_cast<uint32_t>(parameters_.lines.halves) + static_cast<uint32_t>(home);
  }
  /// Sectors of a unit that a half looked for in vain, by home, and those that were nowhere.
  struct Missing {
    std::array<double, 2> here{};
    std::array<double, 2> anywhere{};
  };
  Missing look_up(int half, UnitId unit, const TilePart& part = {});
  double fetch(double now_ns, int half, UnitId unit, int home, const Missing& missing,
               ReadTime& time, Tally& tally);
  /// A dirty piece of `owner` has left L2.
  void write_back(AtomId owner, int64_t units);
  /// Counts a read by somebody; returns the unit's counters.
  Tally& note_read(UnitId unit);
  double dram_read(double now_ns, double sectors, ReadTime& time, Tally& tally);

  L2Parameters parameters_;
  std::vector<PlacedSm> placed_;
  const UnitTable& units_;
  bool merging_;
  std::variant<WholeAtoms, SampledSets> l2_lines_;
  std::vector<std::vector<double>> ready_;  // [half][entry]: when its lines are all there
  std::vector<FarFirst> far_first_;         // [entry]
  std::vector<Outstanding> outstanding_;    // [unit][coalescer]
  int64_t coalescers_ = 1;
  std::vector<uint8_t> touched_;
  std::vector<BandwidthQueue> ports_;
  BandwidthQueue l2_, fabric_, dram_;
  std::array<Tally, unit_group_count> tallies_{};
};

}  // namespace sawtooth::sim
