// Which half of L2 the SMs sit at, in the order in which the hardware places CTAs on them.
//
// On an H200 CTAs go to eight SMs first, and then to GPC after GPC, in a fixed ring that begins
// anywhere (step records of the calibration points, 24 launches, with the half of each SM as
// `sawtooth calibrate` tells it). Where the ring begins changes from launch to launch; here the
// seed says.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

/// Half of the SM that gets CTA c, for c below `sms`. GPUs other than the recorded one have their
/// SMs of one half in one piece.
inline std::vector<uint8_t> placement_halves(int64_t sms, int halves, uint64_t seed) {
  struct Gpc {
    int64_t sms;
    uint8_t half;
  };
  constexpr Gpc first{8, 0};
  constexpr std::array<Gpc, 8> ring{
      {{8, 0}, {16, 1}, {16, 1}, {16, 1}, {16, 0}, {16, 0}, {18, 0}, {18, 1}}};
  constexpr int64_t recorded_sms = 132;

  std::vector<uint8_t> placed;
  if (sms == recorded_sms && halves == 2) {
    placed.assign(first.sms, first.half);
    for (size_t g = 0; g < ring.size(); ++g) {
      const Gpc& gpc = ring[(g + seed) % ring.size()];
      placed.insert(placed.end(), static_cast<size_t>(gpc.sms), gpc.half);
    }
    return placed;
  }
  for (int64_t sm = 0; sm < sms; ++sm) placed.push_back(static_cast<uint8_t>(sm * halves / sms));
  return placed;
}

}  // namespace sawtooth::sim
