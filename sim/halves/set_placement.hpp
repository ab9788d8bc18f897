// Which set a line falls into.
//
// NVIDIA's hash is not published. Streams show that it fills sets far more evenly than chance, for
// each home apart. So every run of as many lines as there are sets, counted home by home, fills
// each set once, in a shuffled order.
//
// Every allocation begins anew: lines of K and V at one offset fall into the same set, which costs
// a causal launch up to six times the DRAM reads near an edge (lockstep_reads.csv). Lines that are
// scattered go their own way in each.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/unit_interval.hpp"

namespace sawtooth::sim {

class SetPlacement {
 public:
  /// Of allocation number `allocation`.
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
      if (unit_interval(chance) < scattered_) {
        return static_cast<int64_t>(mix64(chance) % static_cast<uint64_t>(sets_));
      }
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
      for (size_t left = order_.size(); left > 1; --left) {
        std::swap(order_[left - 1], order_[mix_seed(seed, left) % left]);
      }
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
