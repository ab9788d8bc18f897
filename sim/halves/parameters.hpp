// What the two-half L2 of Ampere and Hopper needs to know of a GPU (docs/two-half-l2.md).
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

  // Hashed sets of finite ways, whose fill depends on chance: of the lines that map to a set, more
  // or fewer than half have their home here, and more or fewer are read from here. 0 switches the
  // sets off: a fully associative half.
  int ways = 0;
  // Share of the capacity that a half keeps of lines that one half alone reads.
  double private_share = 1.0;
  // Lines that both halves read fill the sets of both halves alike, so this chance does not touch
  // them; their sets fill unevenly in another way. A stream of such lines overflows its fullest
  // and its emptiest sets at these shares of the capacity.
  double edge_low = 1.0;
  double edge_high = 1.0;

  // Share of lines that both halves want and that the far half's request reaches first: while all
  // wait for the same miss (measured on cold streams), and while all hit and run freely, where
  // neither half is ahead of the other.
  double far_first_waiting = 0.5;
  double far_first_running = 0.5;
};

/// Throws std::invalid_argument that names the parameter, its value and what is allowed.
void check(const HalvesParameters& parameters);

}  // namespace sawtooth::sim
