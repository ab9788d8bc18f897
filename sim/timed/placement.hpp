// Where the hardware places CTAs, in the order in which it does: the half of L2 that each SM sits
// at, and how slow it is.
//
// On an H200 CTAs go to eight SMs first, and then to GPC after GPC, in a fixed ring that begins
// anywhere (step records of the calibration points, 24 launches, with the half of each SM as
// `sawtooth calibrate` tells it). Where the ring begins changes from launch to launch; here the
// seed says. The same records show that the SMs of a GPC are equally fast but for the two of a TPC,
// and that GPCs differ: by up to 2 parts in 1000, alike in every launch. So neighbours stay
// together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

struct PlacedSm {
  uint8_t half = 0;
  double slowness = 0;  // in standard deviations over the SMs of the GPU
};

namespace recorded_ring {

struct Gpc {
  int64_t sms;
  uint8_t half;
  double slowness;
};
inline constexpr int64_t sms = 132;
inline constexpr Gpc first{8, 0, 0.6};  // the other half of the ring's first GPC
inline constexpr std::array<Gpc, 8> ring{{{8, 0, 0.6},
                                          {16, 1, -0.3},
                                          {16, 1, -0.4},
                                          {16, 1, 0.0},
                                          {16, 0, -0.1},
                                          {16, 0, -0.6},
                                          {18, 0, -0.7},
                                          {18, 1, 2.0}}};

}  // namespace recorded_ring

/// SM that gets CTA c, for c below `sms`. GPUs other than the recorded one have their SMs of one
/// half in one piece, and `slowness` 0.
inline std::vector<PlacedSm> placed_sms(int64_t sms, int halves, uint64_t seed) {
  using recorded_ring::first;
  using recorded_ring::Gpc;
  using recorded_ring::ring;
  constexpr double tpc = 0.45;  // the first SM of a TPC is slower by it, the second one faster

  std::vector<PlacedSm> placed;
  if (sms == recorded_ring::sms && halves == 2) {
    const auto place = [&](const Gpc& gpc) {
      for (int64_t i = 0; i < gpc.sms; ++i)
        placed.push_back({gpc.half, gpc.slowness + (i % 2 == 0 ? tpc : -tpc)});
    };
    place(first);
    for (size_t g = 0; g < ring.size(); ++g) place(ring[(g + seed) % ring.size()]);
    return placed;
  }
  for (int64_t sm = 0; sm < sms; ++sm)
    placed.push_back({static_cast<uint8_t>(sm * halves / sms), 0});
  return placed;
}

}  // namespace sawtooth::sim
