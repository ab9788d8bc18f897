// How fast a CTA's steps are from item to item where items add to the results of earlier calls, as
// a ring's later steps do. Its warpgroups wait each for their own rows of these and may leave the
// item apart; then one computes while the other has its products, and the CTA's next item is
// faster. Source: records of items, docs/models/timed.md ("Staggered items").
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/kernel_cost.hpp"
#include "sim/timed/noise.hpp"

namespace sawtooth::sim {

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

}  // namespace sawtooth::sim
