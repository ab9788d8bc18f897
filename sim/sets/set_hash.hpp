// Which set a line belongs to. Line numbers are addresses over the size of a line.
//
// modulo        line mod sets, the textbook's.
// exclusive_or  linear over GF(2), sets a power of two: either the line number folded to the width
//               of a set number (Gonzalez, Valero, Topham, Parcerisa, ICS 1997), or any matrix.
// balanced      for any number of sets, such as those of 96 slices. Chunks of lines are dealt to
//               groups of sets; each run of as many chunks as there are groups gives every group
//               one chunk, in a pseudo-random order of its own. So neighbours fill sets evenly, as
//               public latency curves show, and no stride meets one set alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/sets/parameters.hpp"

namespace sawtooth::sim {

/// Neighbouring lines that `balanced` keeps together, where the number of sets allows: on an H200
/// the half of a line changes every 32 or 64 lines (experiments/data/h200/streams/line_halves.csv).
inline constexpr int64_t chunk_lines = 32;

class SetHash {
 public:
  /// Checks its input as set_geometry() does.
  SetHash(const SetsParameters& parameters, int64_t sets);

  int64_t sets() const { return sets_; }
  /// The largest power of two n for which n neighbouring lines from a multiple of n on go to n
  /// neighbouring sets from a multiple of n on, a line each; 1 where that is not looked into.
  int64_t lines_together() const;
  uint32_t set_of(uint64_t line) const;
  /// The sets of `images.size()` neighbouring lines from `first_line` on.
  void images(uint64_t first_line, std::span<uint32_t> images) const;

 private:
  uint32_t chunk_start(uint64_t chunk) const;

  HashKind kind_;
  int64_t sets_;
  int set_bits_ = 0;
  int64_t chunk_ = 1;  // lines of a chunk: the largest power of two up to chunk_lines in sets_
  std::vector<uint64_t> matrix_;
};

}  // namespace sawtooth::sim
