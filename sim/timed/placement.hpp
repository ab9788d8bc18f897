// Where the hardware places CTAs, in the order in which it does: the half of L2, the GPC and the
// TPC that each SM sits at, from the layout of the GPU's profile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/gpu.hpp"
#include "sim/timed/chance.hpp"

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
/// those of one half are in one piece.
inline std::vector<PlacedSm> placed_sms(int64_t sms, int halves, const SmLayout& layout = {}) {
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
  return placed;
}

/// The request coalescer of each of `placed`, from 0: `sms` neighbours of one GPC share one. A GPC
/// sits at one half, so what merges asks one half (docs/models/timed.md).
inline std::vector<int32_t> coalescers_of(const std::vector<PlacedSm>& placed, int sms) {
  std::vector<int32_t> of_sm;
  std::map<std::pair<int, int>, int32_t> filling;  // by GPC and half: its last one
  std::vector<int> sizes;
  for (const PlacedSm& sm : placed) {
    const auto last = filling.find({sm.gpc, sm.half});
    if (last == filling.end() || sizes[size_t(last->second)] == sms) {
      filling[{sm.gpc, sm.half}] = static_cast<int32_t>(sizes.size());
      sizes.push_back(0);
    }
    of_sm.push_back(filling[{sm.gpc, sm.half}]);
    ++sizes[size_t(of_sm.back())];
  }
  return of_sm;
}

// Which SM gets which CTA of a launch with more CTAs than SMs. Under a static launch this decides
// which SMs have two CTAs of the larger share.

/// The SM (an index of `placed`) of each of `ctas` CTAs: in the recorded order of the layout, and
/// where it says no more, round robin in the order of placement.
inline std::vector<int64_t> sms_of_ctas(const std::vector<PlacedSm>& placed, const SmLayout& layout,
                                        int64_t ctas) {
  const auto sms = static_cast<int64_t>(placed.size());
  std::vector<int64_t> order;
  for (const TpcRun& run : layout.cta_order) {
    if (ctas <= sms) break;  // one each, in the order of placement
    const auto [first, end] = tpcs_of(run, layout);
    for (int64_t sm = 0; sm < sms; ++sm) {
      const PlacedSm& at = placed[static_cast<size_t>(sm)];
      if (at.gpc == run.gpc && at.tpc >= first && at.tpc < end) order.push_back(sm);
    }
  }
  order.resize(static_cast<size_t>(std::min(ctas, static_cast<int64_t>(order.size()))));
  for (auto cta = static_cast<int64_t>(order.size()); cta < ctas; ++cta) order.push_back(cta % sms);
  return order;
}

// When each SM gets its CTAs at the start of a launch, relative to the first one.
//
// All GPCs fill their TPCs at the same time, each in the order that the GPU's profile has recorded,
// and both CTAs of an SM come together.

/// The place of each SM's TPC in that order, from 0, the first of its GPC, to 1, the last. GPCs of
/// other sizes than the `recorded` ones have their TPCs in turn.
inline std::vector<double> turns_of(const std::vector<PlacedSm>& placed,
                                    const std::vector<std::vector<int>>& recorded) {
  std::vector<int> tpcs;
  for (const PlacedSm& sm : placed) {
    if (tpcs.size() <= size_t(sm.gpc)) tpcs.resize(size_t(sm.gpc) + 1);
    tpcs[size_t(sm.gpc)] = std::max(tpcs[size_t(sm.gpc)], sm.tpc + 1);
  }
  std::vector<double> turns;
  for (const PlacedSm& sm : placed) {
    const int all = tpcs[size_t(sm.gpc)];
    const auto known = std::ranges::find(recorded, size_t(all), &std::vector<int>::size);
    const int turn = known == recorded.end() ? sm.tpc : known->at(size_t(sm.tpc));
    turns.push_back(double(turn) / std::max(1, all - 1));
  }
  return turns;
}

/// In nanoseconds: a GPC's last TPC comes `spread_ns` after its first. GPCs and TPCs deviate from
/// `turns` by `uneven` parts of that, drawn from `seed`.
inline std::vector<double> start_ns(const std::vector<PlacedSm>& placed,
                                    const std::vector<double>& turns, double spread_ns,
                                    double uneven, uint64_t seed) {
  constexpr uint64_t start_salt = uint64_t{1} << 32;
  std::vector<double> starts;
  for (size_t i = 0; i < placed.size(); ++i) {
    const PlacedSm& sm = placed[i];
    const uint64_t gpc = mix_seed(mix_seed(seed, start_salt), uint64_t(sm.gpc));
    uint64_t of_gpc = gpc, of_tpc = mix_seed(gpc, uint64_t(sm.tpc) + 1);
    const double chance = uneven * (noise(of_gpc) + noise(of_tpc));
    starts.push_back(spread_ns * (turns[i] + chance));
  }
  const double first = *std::min_element(starts.begin(), starts.end());
  for (double& start : starts) start -= first;
  return starts;
}

}  // namespace sawtooth::sim
