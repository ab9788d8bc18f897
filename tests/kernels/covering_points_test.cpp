// What the covering set covers, counted without a GPU.
#include "tests/kernels/covering_points.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/attention/masked_kernels.hpp"
#include "kernels/attention/variant_list.hpp"

namespace sawtooth::kernels {
namespace {

std::vector<RandomPoint> all_points() {
  return covering_points(kernel_variants());
}

const KernelVariant& variant_of(const RandomPoint& point) {
  const AttentionForward& call = point.call;
  return *find_variant(call.problem.head_dim, call.problem.dtype, call.tiling, call.family);
}

TEST(CoveringPoints, RunEveryKernelOfTheBuildAndEveryTilingWithEveryMask) {
  std::set<const KernelVariant*> seen;
  std::set<std::tuple<std::string, int64_t, int64_t, int64_t, MaskKind>> pairs, wanted;
  for (const RandomPoint& point : all_points()) {
    const KernelVariant& variant = variant_of(point);
    seen.insert(&variant);
    pairs.emplace(variant.family, variant.head_dim, variant.tiling.q_rows, variant.tiling.kv_rows,
                  point.call.problem.mask.kind);
  }
  for (const KernelVariant& variant : kernel_variants()) {
    EXPECT_TRUE(seen.contains(&variant)) << variant.family << " D=" << variant.head_dim << " tile "
                                         << variant.tiling.q_rows << "x" << variant.tiling.kv_rows;
    for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
      wanted.emplace(variant.family, variant.head_dim, variant.tiling.q_rows,
                     variant.tiling.kv_rows, mask);
  }
  EXPECT_EQ(pairs, wanted);
}

TEST(CoveringPoints, RunEveryScanUnderEveryLaunchWithAndWithoutSplit) {
  std::set<std::tuple<int, int, bool>> seen;
  for (const RandomPoint& point : all_points()) {
    const Schedule& schedule = point.call.schedule;
    seen.emplace(schedule.launch.index, schedule.scan.index, schedule.kv_split > 1);
  }
  const auto variants = kernel_variants();
  const bool merges = std::any_of(variants.begin(), variants.end(),
                                  [](const KernelVariant& one) { return one.merges_pieces; });
  const int without_kernel = merges ? 0 : Scans::size;  // balanced without split
  EXPECT_EQ(seen.size(), size_t(Launches::size * Scans::size * 2 - without_kernel));
}

using FamilyLaunch = std::tuple<std::string, int, bool>;  // and whether K/V is split

TEST(CoveringPoints, RunEveryLaunchOfEveryFamilyWithSecondItemsWithAndWithoutSplit) {
  std::set<FamilyLaunch> seen, wanted;
  for (const RandomPoint& point : all_points())
    if (has_second_items(point))
      seen.emplace(point.call.family, point.call.schedule.launch.index,
                   point.call.schedule.kv_split > 1);
  for (const KernelVariant& variant : kernel_variants())
    for (int launch = 0; launch < Launches::size; ++launch)
      for (const bool split : {false, true})
        if (split || variant.merges_pieces || launch != launch_id<BalancedLaunch>.index)
          wanted.emplace(variant.family, launch, split);
  EXPECT_EQ(seen, wanted);
}

// The points of one family alone, as `--covering FAMILY` runs them.
TEST(CoveringPoints, OfOneFamilyRunEveryScanUnderBalancedWithSplitAndSecondItems) {
  for (const std::string_view family : family_names) {
    std::vector<KernelVariant> variants;
    for (const KernelVariant& variant : kernel_variants())
      if (variant.family == family) variants.push_back(variant);
    if (variants.empty()) continue;  // not in this build
    std::set<int> scans;
    for (const RandomPoint& point : covering_points(variants))
      if (point.call.schedule.launch == launch_id<BalancedLaunch> &&
          point.call.schedule.kv_split > 1 && has_second_items(point))
        scans.insert(point.call.schedule.scan.index);
    EXPECT_EQ(scans.size(), size_t(Scans::size)) << family;
  }
}

TEST(CoveringPoints, AreAtLeastFortyAndKeepTheirKvRangeBelowThreeTiles) {
  const std::vector<RandomPoint> points = all_points();
  EXPECT_GE(points.size(), 40u);
  std::set<int64_t> prefetches;
  std::set<Layout> layouts;
  for (const RandomPoint& point : points) {
    const Problem& problem = point.call.problem;
    const bool of_many_keys = point.call.family == std::string_view(families::hopper_short) &&
                              problem.head_dim == 128 && problem.seq_kv > 4 * 128;
    EXPECT_EQ(kv_tiles(problem, point.call.tiling), of_many_keys ? 3 + 4 : 3);
    EXPECT_EQ(q_tiles(problem, point.call.tiling), 2);
    EXPECT_NE(problem.seq_kv % point.call.tiling.kv_rows, 0);
    prefetches.insert(point.call.schedule.prefetch);
    layouts.insert(point.layout);
  }
  EXPECT_EQ(prefetches, (std::set<int64_t>{0, 1, 2}));
  EXPECT_EQ(layouts.size(), 3u);
}

TEST(CoveringPoints, RunEveryMaskedKernelUnderEveryMask) {
  std::set<std::pair<const void*, MaskKind>> wanted, found;
  for (const KernelVariant& variant : kernel_variants())
    for (const MaskedKernel& kernel : masked_kernels(variant))
      for (const MaskKind mask : {MaskKind::causal, MaskKind::window})
        wanted.insert({kernel.function, mask});
  for (const RandomPoint& point : all_points()) {
    const Problem& problem = point.call.problem;
    const KernelVariant* variant =
        find_variant(problem.head_dim, problem.dtype, point.call.tiling, point.call.family);
    const void* function = kernel_for(*variant, problem).function;
    if (function != variant->function) found.insert({function, problem.mask.kind});
  }
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace sawtooth::kernels
