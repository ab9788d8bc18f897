// What the two-half L2 of Ampere and Hopper needs to know of a GPU (docs/models/halves.md).
//
// The L2 of GA100, GH100 and GB100 has two halves joined by a fabric. Each line has a home half,
// the point of coherence; an SM looks up its near half first, and a line read through the half
// that is not its home is kept in both ("Dissecting the NVIDIA Hopper Architecture", and NVIDIA's
// A100 white paper, "A100 L2 Cache").
#pragma once

#include <cstdint>

namespace sawtooth::sim {

struct HalvesParameters {
  int halves = 2;              // 1: an undivided L2, where near misses are DRAM reads
  int64_t capacity_lines = 0;  // of one half, in 128-byte lines

  // Hashed sets of that many ways. 0 switches the sets off: a fully associative LRU half.
  int ways = 0;
  // So many of a set's ways, those used last, may be dirty: an older line is written back, and
  // stays (eager write-back: Lee, Tyson and Farrens, MICRO 2000). 0: all.
  int dirty_ways = 0;
  // Share of the lines of a half that never hold a reader's line.
  double reserved = 0;
  // Share of lines that lie in a set of chance: pages fill sets evenly, but not quite.
  double scattered = 0;
  // Which lines these are, as pages are drawn.
  uint64_t pages = 0;
  bool one_allocation = false;  // all tensors follow each other in memory

  // Share of lines that both halves want and that the far half's request reaches first: while all
  // wait for the same miss (measured on cold streams), and while all hit and run freely.
  double far_first_waiting = 0.5;
  double far_first_running = 0.5;
  // Whether all wait or run is judged by the latest reads of that share of a half's lines.
  double running_share = 0.5;
};

/// Throws std::invalid_argument that names the parameter, its value and what is allowed.
void check(const HalvesParameters& parameters);

// The request coalescer between SMs and L2 of Hopper and Blackwell (counters lrc__*): neighbouring
// SMs that ask for one line at about the same time are served by one request.
//
// On an H200 132 SMs that read one buffer in step send 0.27 of their sectors to L2 while they wait
// for the same misses, and 0.6 while they hit and run apart. A lone reader has none to share
// with, so the merged share falls linearly with the number of SMs on the line.

struct CoalescerParameters {
  int64_t sms = 0;             // 0: no coalescer
  double waiting_share = 1.0;  // of requests that pass when all SMs wait for the same misses
  double running_share = 1.0;  // when all hit
};

/// Share of the sectors received by SMs that L2 sees when `sharers` SMs read one tile in step and
/// `running` of the lines read lately hit; in (0, 1].
constexpr double passed_share(const CoalescerParameters& parameters, int64_t sharers,
                              double running) {
  if (parameters.sms < 2 || sharers < 2) return 1;
  const double neighbours =
      sharers >= parameters.sms ? 1.0 : double(sharers - 1) / double(parameters.sms - 1);
  const double in_step =
      parameters.waiting_share + (parameters.running_share - parameters.waiting_share) * running;
  return 1 - (1 - in_step) * neighbours;
}

}  // namespace sawtooth::sim
