// The memory behind the SMs, in time: ports, request coalescer, L2 (one block or two halves joined
// by a fabric) and DRAM. TwoHalves says what missed where; here it costs time, and data arrives.
//
// A read passes its SM's port and the coalescer, and looks its lines up in the near half. Lines
// that are missing there come from DRAM if their home is here, otherwise over the fabric from their
// home, which asks DRAM for those that it lacks. Lines that are on their way are not asked for
// again: whoever wants them waits for them, and a request that the coalescer merges with another
// one is answered with it and is no read of L2. A write takes the same way as a read, without a
// fill; a reduction does too, with one, and takes L2's bandwidth in both halves where it crosses.
// DRAM serves reads first: a line that is written back takes bandwidth that reads leave over, so it
// delays none of them, but no launch ends before all of its traffic has passed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/counters.hpp"
#include "sim/halves/two_halves.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

/// When bytes have passed a link.
class BandwidthQueue {
 public:
  /// 0 bytes a nanosecond stands for no limit.
  explicit BandwidthQueue(double bytes_a_ns = 0)
      : ns_a_byte_(bytes_a_ns > 0 ? 1 / bytes_a_ns : 0) {}

  /// When the last of `bytes` has passed that were handed over at `now_ns`.
  double pass(double now_ns, double bytes) {
    free_ns_ = std::max(free_ns_, now_ns) + bytes * ns_a_byte_;
    return ns_a_byte_ > 0 ? free_ns_ : now_ns;
  }

 private:
  double ns_a_byte_, free_ns_ = 0;
};

// How fast a link has moved bytes lately: in the last whole window of time.

class TrafficRate {
 public:
  /// Without a window the rate stays 0.
  explicit TrafficRate(double window_ns) : window_ns_(window_ns) {}

  /// Calls must be in order of time.
  void add(double now_ns, double bytes) {
    if (window_ns_ <= 0) return;
    if (now_ns - begin_ns_ >= window_ns_) {
      bytes_a_ns_ = bytes_ / (now_ns - begin_ns_);
      begin_ns_ = now_ns;
      bytes_ = 0;
    }
    bytes_ += bytes;
  }

  double bytes_a_ns() const { return bytes_a_ns_; }

 private:
  double window_ns_, begin_ns_ = 0;
  double bytes_ = 0;  // since then
  double bytes_a_ns_ = 0;
};

/// Where the time of a read went, in nanoseconds; they sum to its arrival minus its request.
struct ReadTime {
  double arrival_ns = 0;
  double l2_ns = 0;        // waiting for the SM's port and for L2's bandwidth
  double dram_ns = 0;      // waiting for DRAM's bandwidth
  double latency_ns = 0;   // the rest: nothing is in the way
  bool from_dram = false;  // some of its lines
};

class TimedMemory {
 public:
  /// begin() names the atoms, as in TwoHalves; `heads` must outlive this.
  TimedMemory(const L2Parameters& parameters, int64_t sms, const LiveAtoms& heads, bool merging);

  void begin(const HeadRun& run);
  bool holds(AtomRange atoms) const { return l2_lines_.holds(atoms); }

  /// SM `sm` asks for `atom` at `now_ns`; calls must be in order of time.
  ReadTime read(double now_ns, int64_t sm, AtomId atom);
  /// The same for a part of its lines, which move into L2 and not to the SM.
  void prefetch(double now_ns, int64_t sm, AtomId atom, const AtomPart& part);
  void write(double now_ns, int64_t sm, AtomId atom);
  /// Adds to the lines of `atom`; those that are missing are filled from DRAM, which delays no
  /// worker. Returns when L2's bandwidth has passed the last addition.
  double reduce(double now_ns, int64_t sm, AtomId atom);

  /// Copies from and to other GPUs, as TwoHalves; they pass no SM's port.
  void receive(double now_ns, AtomId atom, Copier copier);
  void send(double now_ns, AtomId atom, Copier copier);
  void cross(double now_ns, AtomRange came, AtomRange went, Copier copier) {
    for (AtomId atom = came.begin; atom < came.end; ++atom) receive(now_ns, atom, copier);
    for (AtomId atom = went.begin; atom < went.end; ++atom) send(now_ns, atom, copier);
  }

  const Tally& tally(Tensor tensor) const { return l2_lines_.tally(tensor); }
  Counters counters(Tensor tensor) const { return tally(tensor).counters(); }

  /// Lately, by DRAM, fills included.
  double read_bytes_a_ns() const { return dram_reads_.bytes_a_ns(); }
  /// The same, as a share of what DRAM could read; 0 where that is not limited.
  double dram_load() const {
    return parameters_.dram_bytes_a_ns > 0 ? read_bytes_a_ns() / parameters_.dram_bytes_a_ns : 0;
  }

  /// What DRAM takes at least for all that it has read and written.
  double dram_busy_ns();

  /// SMs are numbered in the order of placement.
  const std::vector<PlacedSm>& placed() const { return placed_; }
  const PlacedSm& placed(int64_t sm) const { return placed_[static_cast<size_t>(sm)]; }

 private:
  // The last time that the far half's SMs fetched lines of an atom from DRAM through their home.
  struct FarFirst {
    double ns = -1e300, sectors = 0;
  };
  // The latest request of a coalescer's SMs for an atom, and when its answer is there.
  struct Outstanding {
    double asked_ns = -1e300, answered_ns = -1e300;
  };
  // Sectors of an atom with one home that the near half lacked, and that were nowhere.
  struct Lacking {
    double here = 0, anywhere = 0;
    double asked = 0;  // of a prefetch, with those that are there
  };

  size_t entry(AtomId atom, int home) const {
    return size_t{atom} * static_cast<size_t>(parameters_.lines.halves) + static_cast<size_t>(home);
  }
  std::array<Lacking, 2> look_up(int half, AtomId atom, const AtomPart& part, Access access);
  double fetch(double now_ns, int half, AtomId atom, int home, const Lacking& lacking,
               Access access, ReadTime& time);
  double pass_dram(double now_ns, double sectors, ReadTime& time);

  L2Parameters parameters_;
  std::vector<PlacedSm> placed_;
  bool merging_;
  TwoHalves l2_lines_;
  std::vector<std::vector<double>> ready_;  // [half][entry]: when its lines are all there
  std::vector<FarFirst> far_first_;         // [entry]
  std::vector<Outstanding> outstanding_;    // [atom][coalescer]
  std::vector<int32_t> coalescer_of_;       // [SM]
  int64_t coalescers_;
  std::vector<BandwidthQueue> ports_;
  BandwidthQueue l2_, dram_;
  TrafficRate dram_reads_;
};

}  // namespace sawtooth::sim
