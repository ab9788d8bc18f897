// What a step of a CTA takes on its SM: the kernel's cost, shared with the CTAs that compute there
// now, what prefetch adds, chance, the load of DRAM, and the speeds of the SM and of the CTA.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/timed/chance.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/placement.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {

// How slow each SM is, in the order of placement.
//
// A GPC has a clock of its own: records of items show the SMs of a GPC at one speed, to 1 part in
// 10,000, and GPCs of an H200 apart by a standard deviation of 0.01 to 0.23 % under kernels/mma,
// and of 0.36 to 0.84 % under kernels/hopper at D = 128, which draws more power; how far differs
// from GPU to GPU, so GPCs are drawn by seed. Of a lone CTA's steps one SM of a TPC is slower than
// the other by up to 0.15 %; which one, and how much, is the kernel's.

/// As factors of a step's time, an SM each.
struct SmSlowness {
  std::vector<double> alone;   // of a lone CTA
  std::vector<double> shared;  // of those that share an SM

  double of(size_t sm, int ctas) const { return ctas < 2 ? alone[sm] : shared[sm]; }
};

inline SmSlowness slowness_of(const std::vector<PlacedSm>& placed, const StepParameters& step,
                              uint64_t seed) {
  constexpr uint64_t gpc_salt = uint64_t{3} << 32;
  SmSlowness factors;
  for (size_t sm = 0; sm < placed.size(); ++sm) {
    uint64_t drawn = mix_seed(mix_seed(seed, gpc_salt), static_cast<uint64_t>(placed[sm].gpc));
    const double usual = step.sm_spread.value_or(0) * noise(drawn);
    const bool first_of_tpc = sm % sms_a_tpc == 0;
    factors.alone.push_back(1 + usual + (first_of_tpc ? step.tpc_spread : -step.tpc_spread));
    factors.shared.push_back(1 + usual);
  }
  return factors;
}

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
  /// `cta`, which is active, begins this step at `now_ns`; the call moves the CTA's chance on.
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
