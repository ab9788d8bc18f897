// What a step of a CTA takes on its SM: the kernel's cost, shared with the CTAs that compute there
// now, what prefetch adds, chance, the load of DRAM, and the speeds of the SM and of the CTA.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/timed/chance.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/placement.hpp"
#include "sim/timed/sm_speed.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {

/// A CTA, as far as its steps and those of its neighbours depend on it.
struct SmCta {
  int64_t sm = 0;
  int64_t age = 0;         // lower is older, among the CTAs of an SM
  bool active = false;     // computes on an item
  bool has_lines = false;  // that it prefetches for the wave of its item
  uint64_t random = 0;
  ItemPace pace;
};

class StepTimes {
 public:
  /// `parameters` must outlive it. `prefetches`: some CTAs may have lines.
  StepTimes(const TimedParameters& parameters, const StepCost& cost, bool prefetches,
            const std::vector<PlacedSm>& placed, uint64_t seed);

  /// `cta`, which must not move, stays on its SM from now on.
  void settle(const SmCta& cta) { ctas_[static_cast<size_t>(cta.sm)].push_back(&cta); }
  /// An item begins on an SM.
  void begin_item(int64_t sm) {
    if (parameters_.step.phases_meet) phases_.meet(sm);
  }
  /// Of the step that `cta`, which is active, begins at `now_ns`; it moves the CTA's chance on.
  double step_ns(SmCta& cta, double now_ns, double read_bytes_a_ns);

 private:
  struct Company {
    int ctas = 0;   // that compute on the SM
    int older = 0;  // than the one of the step
    int with_lines = 0;
  };

  Company company_of(const SmCta& cta) const;
  double jitter_of(SmCta& cta, const Company& company, double now_ns);

  const TimedParameters& parameters_;
  StepCost cost_;
  bool prefetches_;
  uint64_t seed_;
  SmSlowness slowness_;
  SmPhases phases_;
  std::vector<std::vector<const SmCta*>> ctas_;  // of an SM
};

}  // namespace sawtooth::sim
