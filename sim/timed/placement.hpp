// Where the hardware places CTAs, in the order in which it does: the half of L2, the GPC and the
// TPC that each SM sits at, from the layout of the GPU's profile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/gpu.hpp"

namespace sawtooth::sim {

struct PlacedSm {
  uint8_t half = 0;
  int16_t gpc = 0;
  int16_t tpc = 0;  // of its GPC
};

inline constexpr int64_t sms_a_tpc = 2;

/// The TPCs of `run`, from the first to behind the last.
inline std::pair<int, int> tpcs_of(const TpcRun& run, const SmLayout& layout) {
  if (run.tpcs > 0) return {run.first_tpc, run.first_tpc + run.tpcs};
  return {0, static_cast<int>(layout.gpc_sms.at(static_cast<size_t>(run.gpc)) / sms_a_tpc)};
}

/// SM that gets CTA c, for c below `sms`. Where the layout is not recorded, GPCs have 16 SMs and
/// those of one half are in one piece. `half_of` has the halves of a known die, in this order.
inline std::vector<PlacedSm> placed_sms(int64_t sms, int halves, const SmLayout& layout = {},
                                        const std::vector<int64_t>& half_of = {}) {
  constexpr int64_t usual_sms_a_gpc = 16;
  std::vector<PlacedSm> placed;
  const auto place = [&](int64_t half, int64_t gpc, int64_t tpc) {
    placed.push_back(
        {static_cast<uint8_t>(half), static_cast<int16_t>(gpc), static_cast<int16_t>(tpc)});
  };
  for (const TpcRun& run : layout.cta_order) {
    const int64_t half = halves == 2 ? layout.gpc_half.at(static_cast<size_t>(run.gpc)) : 0;
    const auto [first, end] = tpcs_of(run, layout);
    const bool again = std::any_of(placed.begin(), placed.end(), [&, tpc = first](PlacedSm sm) {
      return sm.gpc == run.gpc && sm.tpc == tpc;
    });
    for (int tpc = first; tpc < end && !again; ++tpc)
      for (int64_t sm = 0; sm < sms_a_tpc; ++sm) place(half, run.gpc, tpc);
  }
  for (auto sm = static_cast<int64_t>(placed.size()); sm < sms; ++sm)
    place(sm * halves / sms, sm / usual_sms_a_gpc, sm % usual_sms_a_gpc / sms_a_tpc);
  for (size_t sm = 0; halves == 2 && sm < half_of.size(); ++sm)
    placed[sm].half = static_cast<uint8_t>(half_of[sm]);
  return placed;
}

}  // namespace sawtooth::sim
