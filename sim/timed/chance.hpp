// What is random in time: noise, paces of items, and phases of CTAs that alternate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/kernel_cost.hpp"

namespace sawtooth::sim {

/// A triangular distribution of mean 0 and standard deviation 1; moves `stream` on.
inline double noise(uint64_t& stream) {
  constexpr double scale = 2.449489742783178;  // sqrt(6)
  constexpr double unit = 1.0 / 4294967296.0;
  stream = mix_seed(stream, 0);
  return scale * (double(stream >> 32) * unit + double(stream & 0xffffffffU) * unit - 1);
}

/// Evenly from 0 to 1; moves `stream` on.
inline double uniform(uint64_t& stream) {
  constexpr double unit = 1.0 / 9007199254740992.0;  // 2^-53
  stream = mix_seed(stream, 0);
  return double(stream >> 11) * unit;
}

/// An exponential distribution of mean 1; moves `stream` on.
inline double waiting_time(uint64_t& stream) {
  constexpr double unit = 1.0 / 9007199254740992.0;  // 2^-53
  stream = mix_seed(stream, 0);
  return -std::log((double(stream >> 11) + 0.5) * unit);
}

// How fast a CTA's steps are from item to item where items add to the results of earlier calls, as
// a ring's later steps do. Its warpgroups wait each for their own rows of these and may leave the
// item apart; then one computes while the other has its products, and the CTA's next item is
// faster. Source: records of items, docs/models/timed.md ("Staggered items").

class ItemPace {
 public:
  ItemPace() = default;
  explicit ItemPace(uint64_t seed) : random_(seed) {}

  /// What a step of the CTA's item takes, as a factor.
  double factor() const { return factor_; }

  /// An item has added; draws for the CTA's next one.
  void add(const Staggered& staggered) {
    const double share = is_staggered_ ? staggered.kept_share : staggered.share;
    is_staggered_ = uniform(random_) < share;
    factor_ = is_staggered_
                  ? std::min(1.0, 1 - staggered.gain - staggered.gain_spread * noise(random_))
                  : 1;
  }

 private:
  uint64_t random_ = 0;
  bool is_staggered_ = false;
  double factor_ = 1;
};

// CTAs that alternate on an SM do so in a right phase, in which each computes while the other loads
// or stores, or in a wrong one, in which both are slower. Items that do not begin together may meet
// in the wrong phase, and leave it after some steps.
// Source: records of items, docs/models/backward.md ("In time").

class SmPhases {
 public:
  SmPhases() = default;
  /// `step_ns`: of two CTAs in the right phase.
  SmPhases(const WrongPhase& wrong, double step_ns, int64_t sms, uint64_t seed)
      : wrong_(wrong), mean_ns_(wrong.steps * step_ns) {
    if (wrong.slowness <= 0) return;
    for (int64_t sm = 0; sm < sms; ++sm)
      sms_.push_back({.random = mix_seed(seed, static_cast<uint64_t>(sm))});
  }

  /// An item begins on an SM at any phase to the steps of its other CTA.
  void meet(int64_t sm, double now_ns) {
    if (sms_.empty()) return;
    State& state = sms_[static_cast<size_t>(sm)];
    const bool wrong = uniform(state.random) < wrong_.met_share;
    state.until_ns = wrong ? now_ns + mean_ns_ * waiting_time(state.random) : now_ns;
  }

  /// What the CTAs of an SM take longer, as a share of a step.
  double slowness(int64_t sm, double now_ns) const {
    if (sms_.empty()) return 0;
    return now_ns < sms_[static_cast<size_t>(sm)].until_ns ? wrong_.slowness : 0;
  }

 private:
  struct State {
    uint64_t random = 0;
    double until_ns = 0;  // in the wrong phase
  };

  WrongPhase wrong_;
  double mean_ns_ = 0;  // in the wrong phase
  std::vector<State> sms_;
};

}  // namespace sawtooth::sim
