// Where the hardware places CTAs, in the order in which it does: the half of L2 and the GPC that
// each SM sits at. Which GPCs sit at which half is each die's own matter: of five H200s with
// records of items three agree (read_items.py finds them by who draws the first tickets).
//
// On an H200 CTAs go to eight SMs first, the last four TPCs of the first GPC, and then to GPC after
// GPC. Records of items say so, on three GPUs (experiments/data/h200/validation): SMs of a GPC
// run at one speed, which tells GPCs apart, and every launch behind another one has the same order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

struct PlacedSm {
  uint8_t half = 0;
  int16_t gpc = 0;
  int16_t tpc = 0;  // of its GPC
};

inline constexpr int64_t sms_a_tpc = 2;

namespace recorded_ring {

struct Part {
  int64_t sms;
  uint8_t half;
  int16_t gpc;
  int16_t first_tpc;
};
inline constexpr int64_t sms = 132;
inline constexpr std::array<Part, 9> parts{{{8, 0, 0, 4},
                                            {8, 0, 0, 0},
                                            {16, 1, 1, 0},
                                            {16, 1, 2, 0},
                                            {16, 1, 3, 0},
                                            {16, 0, 4, 0},
                                            {16, 0, 5, 0},
                                            {18, 0, 6, 0},
                                            {18, 1, 7, 0}}};

}  // namespace recorded_ring

/// SM that gets CTA c, for c below `sms`. GPUs other than the recorded one have their SMs of one
/// half in one piece, and GPCs of 16. `half_of` has the halves of a known die, in this order.
inline std::vector<PlacedSm> placed_sms(int64_t sms, int halves,
                                        const std::vector<int>& half_of = {}) {
  constexpr int64_t usual_sms_a_gpc = 16;
  std::vector<PlacedSm> placed;
  if (sms == recorded_ring::sms && halves == 2) {
    for (const recorded_ring::Part& part : recorded_ring::parts)
      for (int64_t i = 0; i < part.sms; ++i)
        placed.push_back(
            {part.half, part.gpc, static_cast<int16_t>(part.first_tpc + i / sms_a_tpc)});
  } else {
    for (int64_t sm = 0; sm < sms; ++sm)
      placed.push_back({static_cast<uint8_t>(sm * halves / sms),
                        static_cast<int16_t>(sm / usual_sms_a_gpc),
                        static_cast<int16_t>(sm % usual_sms_a_gpc / sms_a_tpc)});
  }
  for (size_t sm = 0; halves == 2 && sm < half_of.size(); ++sm)
    placed[sm].half = static_cast<uint8_t>(half_of[sm]);
  return placed;
}

}  // namespace sawtooth::sim
