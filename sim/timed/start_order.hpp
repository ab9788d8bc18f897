// When each SM gets its CTAs at the start of a launch, relative to the first one, and which SMs
// are late with every item.
//
// All GPCs of an H200 fill their TPCs at the same time, each in the same order, and both CTAs of an
// SM come together (first starts in records of items of the calibration points, three GPUs; within
// 20 ns from launch to launch). In the same order items take longer, whatever their length: the
// TPC that starts last is late by another fifth of a microsecond with each (read_items.py).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/timed/noise.hpp"
#include "sim/timed/placement.hpp"

namespace sawtooth::sim {

/// The place of each SM's TPC in that order, from 0, the first of its GPC, to 1, the last. GPCs of
/// other sizes than the recorded ones have their TPCs in turn.
inline std::vector<double> turns_of(const std::vector<PlacedSm>& placed) {
  constexpr std::array<int, 8> turn_of_eight{4, 5, 7, 2, 3, 6, 0, 1};
  constexpr std::array<int, 9> turn_of_nine{4, 5, 8, 2, 3, 7, 0, 1, 6};
  std::vector<int> tpcs;
  for (const PlacedSm& sm : placed) {
    if (tpcs.size() <= size_t(sm.gpc)) tpcs.resize(size_t(sm.gpc) + 1);
    tpcs[size_t(sm.gpc)] = std::max(tpcs[size_t(sm.gpc)], sm.tpc + 1);
  }
  std::vector<double> turns;
  for (const PlacedSm& sm : placed) {
    const int all = tpcs[size_t(sm.gpc)];
    const int turn = all == 8   ? turn_of_eight[size_t(sm.tpc)]
                     : all == 9 ? turn_of_nine[size_t(sm.tpc)]
                                : sm.tpc;
    turns.push_back(double(turn) / std::max(1, all - 1));
  }
  return turns;
}

/// In nanoseconds: a GPC's last TPC comes `spread_ns` after its first.
inline std::vector<double> start_ns(const std::vector<PlacedSm>& placed, double spread_ns,
                                    uint64_t seed) {
  constexpr double uneven = 0.07;  // of a GPC and of a TPC, in parts of the spread: 9 ns each
  constexpr uint64_t start_salt = uint64_t{1} << 32;
  const std::vector<double> turns = turns_of(placed);
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

/// In nanoseconds, around the mean over the SMs: the last TPC of a GPC less the first is
/// `spread_ns`.
inline std::vector<double> item_late_ns(const std::vector<PlacedSm>& placed, double spread_ns) {
  std::vector<double> late = turns_of(placed);
  const double mean = std::accumulate(late.begin(), late.end(), 0.0) / double(late.size());
  for (double& turn : late) turn = spread_ns * (turn - mean);
  return late;
}

}  // namespace sawtooth::sim
