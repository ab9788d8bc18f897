// The set of each line, and which neighbours of an atom lie in different sets: those of a run do.
// What happens to the lines of a run is independent of their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/halves/piece.hpp"

namespace sawtooth::sim {

class LineSets {
 public:
  explicit LineSets(size_t sets) : latest_(sets) {}

  /// Lines placed so far are below this.
  size_t lines() const { return set_of_.size(); }
  /// Of the first line, and then of each.
  const uint16_t* sets() const { return set_of_.data(); }
  uint32_t of(uint32_t line) const { return set_of_[line]; }

  /// The next line to be placed is the first of an atom.
  void begin_atom(uint32_t line) { run_ = line; }

  /// Places `line`, which follows the one placed last or the call of begin_atom(), anew or as the
  /// first one beyond lines().
  void place(uint32_t line, uint16_t set) {
    if (line == set_of_.size()) {
      set_of_.push_back(0);
      if (line % 64 == 0) begins_.resize(line / 64 + 2);
    }
    set_of_[line] = set;
    const uint32_t latest = std::exchange(latest_[set], line);
    const bool begins = run_ <= latest && latest < line;
    if (begins) run_ = line;
    const uint64_t bit = uint64_t{1} << line % 64;
    if (((begins_[line / 64] & bit) != 0) != begins) begins_[line / 64] ^= bit;
  }

  /// Of an atom's lines first + i for each i of `which`, the run that the first of them is in.
  PieceMask run(uint32_t first, PieceMask which) const {
    const uint32_t shift = first % 64;
    const uint64_t* const words = &begins_[first / 64];
    const PieceMask begins = shift == 0 ? words[0] : words[0] >> shift | words[1] << (64 - shift);
    const PieceMask later = begins & ~(which ^ (which - 1));
    return later == 0 ? which : which & ((later & -later) - 1);
  }

 private:
  std::vector<uint16_t> set_of_;
  std::vector<uint64_t> begins_;  // a bit a line: it begins a run within its atom; a word more
  std::vector<uint32_t> latest_;  // of each set, the line placed last
  uint32_t run_ = 0;              // where the present one began
};

}  // namespace sawtooth::sim
