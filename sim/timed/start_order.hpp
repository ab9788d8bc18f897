// When each SM gets its CTAs at the start of a launch, relative to the first one, and which SMs
// are late with every item.
//
// All GPCs fill their TPCs at the same time, each in the order that the GPU's profile has recorded,
// and both CTAs of an SM come together. In the same order items take longer, whatever their length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/timed/noise.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

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

/// `late` are turns. In nanoseconds around the mean over the SMs: the last TPC of a GPC less the
/// first is `spread_ns`.
inline std::vector<double> item_late_ns(std::vector<double> late, double spread_ns) {
  const double mean = std::accumulate(late.begin(), late.end(), 0.0) / double(late.size());
  for (double& turn : late) turn = spread_ns * (turn - mean);
  return late;
}

}  // namespace sawtooth::sim
