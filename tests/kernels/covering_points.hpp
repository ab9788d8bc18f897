// A small set of problems for tools that slow kernels down, such as compute-sanitizer: few enough
// to run in a minute, and yet every kernel, mask and schedule meets the code paths it has.
#pragma once

#include <span>
#include <vector>

#include "tests/kernels/random_points.hpp"

namespace sawtooth::kernels {

struct LaunchAndSplit {
  LaunchId launch;
  bool split = false;
};

/// What the kernels of this variant's family run: all, but `balanced` cuts without split only where
/// pieces are merged.
std::vector<LaunchAndSplit> launches_of(const KernelVariant& variant);

/// Whether some worker has more than one item: a first item alone shows no launch at work.
bool has_second_items(const RandomPoint& point);

/// Points over `variants`: every tiling of every family with every mask, both element types of it
/// where it has them, every (launch, scan, split or whole) that is on the lists, with and without
/// prefetch, every layout, and every launch of every family with second items, split and whole.
/// Three points a tiling, and more of the last tilings when the schedules are not all through.
/// Lengths are ragged, below three tiles, but for kernels under a mask that begin at more keys.
std::vector<RandomPoint> covering_points(std::span<const KernelVariant> variants);

}  // namespace sawtooth::kernels
