// How slow each SM is, in the order of placement.
//
// A GPC has a clock of its own: records of items show the SMs of a GPC at one speed, to 1 part in
// 10,000, and GPCs of an H200 apart, each die in its own way: by a standard deviation of 0.01 to
// 0.23 % (die.ini and other_die.ini in experiments/measured/h200/validation). In kernels with tiles
// of 128 K/V rows the first SM of a TPC is slower than the second one by up to 0.1 %; with 64 rows
// they are alike.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/noise.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

/// As a factor of a step's time. Where the die's speeds are not known, `seed` draws its GPCs.
inline std::vector<double> slowness_of(const std::vector<PlacedSm>& placed,
                                       const StepParameters& step, uint64_t seed) {
  constexpr uint64_t gpc_salt = uint64_t{3} << 32;
  std::vector<double> factors;
  for (size_t sm = 0; sm < placed.size(); ++sm) {
    uint64_t drawn = mix_seed(mix_seed(seed, gpc_salt), static_cast<uint64_t>(placed[sm].gpc));
    const double gpc =
        step.sm_slowness.empty() ? step.sm_spread * noise(drawn) : step.sm_slowness[sm];
    const bool first_of_tpc = sm % sms_a_tpc == 0;
    factors.push_back(1 + gpc + (first_of_tpc ? step.tpc_spread : -step.tpc_spread));
  }
  return factors;
}

}  // namespace sawtooth::sim
