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
            const std::vector<PlacedSm>& placed, uint64_t seed)
      : parameters_(parameters),
        cost_(cost),
        prefetches_(prefetches),
        seed_(seed),
        slowness_(slowness_of(placed, parameters.step, seed)),
        phases_(parameters.step.wrong_phase, cost.shared_ns(2, 0), parameters.sms,
                mix_seed(seed, phase_salt)),
        ctas_(static_cast<size_t>(parameters.sms)) {}

  /// `cta`, which must not move, stays on its SM from now on.
  void settle(const SmCta& cta) { ctas_[static_cast<size_t>(cta.sm)].push_back(&cta); }
  /// An item, the CTA's first or a later one, begins on an SM.
  void begin_item(int64_t sm, double now_ns, bool first) {
    if (first || parameters_.step.phases_meet) phases_.meet(sm, now_ns);
  }
  /// `cta`, which is active, begins this step at `now_ns`; the call moves the CTA's chance on.
  double step_ns(SmCta& cta, double now_ns, double read_bytes_a_ns) {
    const Company company = company_of(cta);
    double ns =
        parameters_.sharing ? cost_.shared_ns(company.ctas, company.older) : cost_.alone_ns();
    if (prefetches_) {
      const PrefetchTimes& cost =
          company.ctas < 2 ? parameters_.step.prefetch : parameters_.step.prefetch_shared;
      const double mean = double(company.with_lines) / company.ctas;
      const double more = (cta.has_lines ? 1 : 0) - mean;  // than the mean of the CTAs on the SM
      ns = (ns + cost.added_ns(mean)) * (1 + 2 * more * parameters_.step.prefetch_lines_bias);
    }
    ns *= 1 + jitter_of(cta, company, now_ns);
    ns *= 1 + parameters_.dram_slowness * read_bytes_a_ns;
    return ns * cta.pace.factor() * slowness_.of(static_cast<size_t>(cta.sm), company.ctas);
  }

 private:
  // Streams of SMs, apart from those of workers.
  static constexpr uint64_t sm_salt = uint64_t{1} << 33;
  static constexpr uint64_t phase_salt = uint64_t{1} << 34;

  struct Company {
    int ctas = 0;   // that compute on the SM
    int older = 0;  // than the one of the step
    int with_lines = 0;
  };

  Company company_of(const SmCta& cta) const {
    Company company;
    for (const SmCta* other : ctas_[static_cast<size_t>(cta.sm)]) {
      if (!other->active) continue;
      ++company.ctas;
      if (other->age < cta.age) ++company.older;
      if (prefetches_ && other->has_lines) ++company.with_lines;
    }
    return company;
  }

  // What the step takes longer by chance, as a share. CTAs that alternate share one random sample
  // per SM and step, and their phase.
  double jitter_of(SmCta& cta, const Company& company, double now_ns) {
    const StepParameters& step = parameters_.step;
    if (company.ctas < 2) return step.jitter > 0 ? step.jitter * noise(cta.random) : 0;
    if (step.keep_step) {
      const double phase = phases_.slowness(cta.sm, now_ns);
      const double jitter = step.jitter_in_step.value_or(0);
      if (jitter <= 0) return phase;
      const auto step_number = static_cast<uint64_t>(now_ns / cost_.shared_ns(company.ctas, 0));
      uint64_t of_sm =
          mix_seed(mix_seed(seed_, sm_salt + static_cast<uint64_t>(cta.sm)), step_number);
      return phase + jitter * noise(of_sm);
    }
    const double jitter = step.jitter_shared.value_or(0);
    return jitter > 0 ? jitter * noise(cta.random) : 0;
  }

  const TimedParameters& parameters_;
  StepCost cost_;
  bool prefetches_;
  uint64_t seed_;
  SmSlowness slowness_;
  SmPhases phases_;
  std::vector<std::vector<const SmCta*>> ctas_;  // of an SM
};

}  // namespace sawtooth::sim
