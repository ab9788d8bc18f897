// Which set a line falls into, and which neighbours of an atom lie in different sets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/piece.hpp"

namespace sawtooth::sim {

// The set of each line, and which neighbours of an atom lie in different sets: those of a run do.
// What happens to the lines of a run is independent of their order.

class LineSets {
 public:
  explicit LineSets(size_t sets) : latest_(sets) {}

  /// Lines placed so far are below this.
  size_t lines() const { return set_of_.size(); }
  /// The first line's set comes first, and then each line's.
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

  /// The first of an atom's lines first + i, for each i of `which`, is in this run.
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

// Which set a line falls into.
//
// NVIDIA's hash is not published. Streams show that it fills sets far more evenly than chance, for
// each home apart. So every run of as many lines as there are sets, counted home by home, fills
// each set once, in a shuffled order.
//
// Every allocation begins anew: lines of K and V at one offset fall into the same set, which costs
// a causal launch up to six times the DRAM reads near an edge (lockstep_reads.csv). Lines that are
// scattered go their own way in each.

class SetPlacement {
 public:
  /// The allocation has number `allocation`.
  SetPlacement(const HalvesParameters& parameters, int64_t sets, uint64_t allocation = 0)
      : sets_(sets),
        chance_(mix_seed(mix_seed(scattered_salt, parameters.pages), allocation)),
        scattered_(parameters.scattered) {
    slots_.refill(sets / 2, slot_salt);
  }

  /// Set of the line that is number `line` among the allocation's of its home, in address order.
  /// A function of its arguments alone; fast when lines of a home come in order.
  int64_t set_of(int64_t line, int home) {
    const auto seed = static_cast<uint64_t>(home);
    if (scattered_ > 0) {
      const uint64_t chance = mix_seed(mix_seed(chance_, seed), static_cast<uint64_t>(line));
      if (unit_interval(chance) < scattered_)
        return static_cast<int64_t>(mix64(chance) % static_cast<uint64_t>(sets_));
    }
    Shuffled& order = orders_[static_cast<size_t>(home)];
    if (sets_ % 2 == 1) return order.of(line, sets_, seed);
    // Both halves of a turn go through one fixed order first: it keeps recorded predictions as
    // they are.
    const int64_t pairs = sets_ / 2;
    return order.of(line - line % pairs + slots_.at(line % pairs), sets_, seed);
  }

 private:
  // Apart from the homes' own seeds, 0 and 1.
  enum : uint64_t { slot_salt = 2, scattered_salt = 6 };

  /// 0 to size - 1 in another shuffled order in every turn of `size` places.
  class Shuffled {
   public:
    int64_t of(int64_t place, int64_t size, uint64_t salt) {
      if (place / size != turn_) {
        turn_ = place / size;
        refill(size, mix_seed(salt, static_cast<uint64_t>(turn_)));
      }
      return at(place % size);
    }
    /// Fisher and Yates' shuffle (Knuth, TAOCP 2, 3.4.2, algorithm P).
    void refill(int64_t size, uint64_t seed) {
      order_.resize(static_cast<size_t>(size));
      std::iota(order_.begin(), order_.end(), uint32_t{0});
      for (size_t left = order_.size(); left > 1; --left)
        std::swap(order_[left - 1], order_[mix_seed(seed, left) % left]);
    }
    int64_t at(int64_t place) const { return order_[static_cast<size_t>(place)]; }

   private:
    int64_t turn_ = -1;
    std::vector<uint32_t> order_;
  };

  int64_t sets_;
  uint64_t chance_;  // which lines are scattered, and where to
  double scattered_;
  Shuffled slots_;
  std::array<Shuffled, 2> orders_;
};

}  // namespace sawtooth::sim
