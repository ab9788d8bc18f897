// How slow each SM is, in the order of placement.
//
// A GPC has a clock of its own: records of items show the SMs of a GPC at one speed, to 1 part in
// 10,000, and GPCs of an H200 apart by a standard deviation of 0.01 to 0.23 % under kernels/mma,
// and of 0.36 to 0.84 % under kernels/hopper at D = 128, which draws more power; how far differs
// from GPU to GPU, so GPCs are drawn by seed. Of a lone CTA's steps one SM of a TPC is slower than
// the other by up to 0.15 %; which one, and how much, is the kernel's.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/permutation.hpp"
#include "sim/timed/chance.hpp"
#include "sim/timed/parameters.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

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

}  // namespace sawtooth::sim
