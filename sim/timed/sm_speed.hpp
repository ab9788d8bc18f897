// How slow each SM is, in the order of placement.
//
// A GPC has a clock of its own: records of items show the SMs of a GPC at one speed, to 1 part in
// 10,000, and GPCs of an H200 apart, each die in its own way: by a standard deviation of 0.01 to
// 0.23 % under kernels/mma (the files of dies in experiments/data/h200/validation), and of 0.36 to
// 0.84 % under kernels/hopper at D = 128, which draws more. Of a lone CTA's steps
// one SM of a TPC is slower than the other by up to 0.15 %; which one, and how much, is the
// kernel's. A die can have TPCs that are apart from their GPC, by 3 % in one kernel and by nothing
// in another, and in yet another way where two CTAs share an SM.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/timed/noise.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

/// As factors of a step's time, an SM each.
struct SmSlowness {
  std::vector<double> alone;  // of a lone CTA
  std::vector<double> older;  // of those that share an SM
  std::vector<double> younger;

  /// For the CTA of `ctas` on `sm` that `older_ones` of them are older than.
  double of(size_t sm, int ctas, int older_ones) const {
    return ctas < 2 ? alone[sm] : older_ones == 0 ? older[sm] : younger[sm];
  }
};

/// Where the die's speeds are not known, `seed` draws its GPCs.
inline SmSlowness slowness_of(const std::vector<PlacedSm>& placed, const StepParameters& step,
                              uint64_t seed) {
  constexpr uint64_t gpc_salt = uint64_t{3} << 32;
  SmSlowness factors;
  for (size_t sm = 0; sm < placed.size(); ++sm) {
    uint64_t drawn = mix_seed(mix_seed(seed, gpc_salt), static_cast<uint64_t>(placed[sm].gpc));
    const double usual =
        step.sm_slowness.empty() ? step.sm_spread * noise(drawn) : step.sm_slowness[sm];
    const auto shared = [&](const std::vector<double>& known) {
      return 1 + (known.empty() ? usual : known[sm]);
    };
    const bool first_of_tpc = sm % sms_a_tpc == 0;
    factors.alone.push_back(1 + usual + (first_of_tpc ? step.tpc_spread : -step.tpc_spread));
    factors.older.push_back(shared(step.sm_slowness_older));
    factors.younger.push_back(shared(step.sm_slowness_younger));
  }
  return factors;
}

}  // namespace sawtooth::sim
