// What the programs that check kernels on a GPU cover, and what they take for right and for wrong.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/variant_list.hpp"
#include "tests/kernels/random_check.hpp"
#include "tests/kernels/random_points.hpp"

namespace sawtooth::kernels {
namespace {

std::vector<RandomPoint> all_points() {
  return covering_points(kernel_variants());
}

const KernelVariant& variant_of(const RandomPoint& point) {
  const AttentionForward& call = point.call;
  return *find_variant(HeadDims(call.problem), call.problem.dtype, call.tiling, call.family);
}

TEST(CoveringPoints, RunEveryKernelOfTheBuildAndEveryTilingWithEveryMask) {
  std::set<const KernelVariant*> seen;
  std::set<std::tuple<std::string, HeadDims, int64_t, int64_t, MaskKind>> pairs, wanted;
  for (const RandomPoint& point : all_points()) {
    const KernelVariant& variant = variant_of(point);
    seen.insert(&variant);
    pairs.emplace(variant.family, variant.head_dims(), variant.tiling.q_rows,
                  variant.tiling.kv_rows, point.call.problem.mask.kind);
  }
  for (const KernelVariant& variant : kernel_variants()) {
    EXPECT_TRUE(seen.contains(&variant))
        << variant.family << " D=" << variant.head_dims().text() << " tile "
        << variant.tiling.q_rows << "x" << variant.tiling.kv_rows;
    for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
      wanted.emplace(variant.family, variant.head_dims(), variant.tiling.q_rows,
                     variant.tiling.kv_rows, mask);
    if (variant.listed_function != nullptr)
      wanted.emplace(variant.family, variant.head_dims(), variant.tiling.q_rows,
                     variant.tiling.kv_rows, MaskKind::listed);
  }
  EXPECT_EQ(pairs, wanted);
}

TEST(CoveringPoints, RunEveryScanUnderEveryLaunchWithAndWithoutSplit) {
  std::set<std::tuple<int, int, bool>> seen, under_lists;
  for (const RandomPoint& point : all_points()) {
    const Schedule& schedule = point.call.schedule;
    const auto way = std::tuple(schedule.launch.index, schedule.scan.index, schedule.kv_split > 1);
    seen.insert(way);
    if (is_listed(point.call.problem.mask)) under_lists.insert(way);
  }
  const auto variants = kernel_variants();
  const bool merges = std::any_of(variants.begin(), variants.end(),
                                  [](const KernelVariant& one) { return one.merges_pieces; });
  const int without_kernel = merges ? 0 : Scans::size;  // balanced without split
  EXPECT_EQ(seen.size(), size_t(Launches::size * Scans::size * 2 - without_kernel));
  // Kernels for lists take turns, and some of them merge no pieces.
  EXPECT_TRUE(under_lists.empty() || under_lists.size() + Scans::size >= seen.size());
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
  for (const KernelVariant& variant : kernel_variants()) {
    if (const MaskedKernel* kernel = masked_kernel(variant))
      for (const MaskKind mask : {MaskKind::causal, MaskKind::window})
        wanted.insert({kernel->function, mask});
    if (variant.listed_function != nullptr)
      wanted.insert({variant.listed_function, MaskKind::listed});
  }
  for (const RandomPoint& point : all_points()) {
    const Problem& problem = point.call.problem;
    const KernelVariant* variant =
        find_variant(HeadDims(problem), problem.dtype, point.call.tiling, point.call.family);
    const void* function = kernel_for(*variant, problem).function;
    if (function != variant->function) found.insert({function, problem.mask.kind});
  }
  EXPECT_EQ(found, wanted);
}

constexpr Tolerance tolerated{.o = 1e-2, .lse = 1e-3};

ReferenceResult expected() {
  return {.o = {3, 4, 0, 0}, .lse = {0.5, -INFINITY}};
}

TEST(RandomCheck, TakesResultsWithinTheTolerance) {
  const std::vector<float> o{3, 4.04f, 0, 0}, lse{0.5005f, -INFINITY};
  const Judged judged = judge_rows(o, lse, expected(), tolerated);
  EXPECT_EQ(judged.wrong, "");
  EXPECT_NEAR(judged.error, 0.04 / 5, 1e-6);
  EXPECT_EQ(judge_rows(o, {}, expected(), tolerated).wrong, "");
}

TEST(RandomCheck, NamesWhatIsWrong) {
  const std::vector<float> right{3, 4, 0, 0}, lse{0.5f, -INFINITY};
  const auto wrong = [](const std::vector<float>& o, const std::vector<float>& of_rows) {
    return judge_rows(o, of_rows, expected(), tolerated).wrong;
  };
  EXPECT_EQ(wrong({3, 4.1f, 0, 0}, lse).find("O differs by 0.02"), 0u);
  EXPECT_NE(wrong({3, NAN, 0, 0}, lse), "");
  EXPECT_EQ(wrong(right, {0.502f, -INFINITY}).find("lse is 0.502"), 0u);
  EXPECT_EQ(wrong(right, {0.5f, 0}).find("lse is 0.000000, expected -inf"), 0u);
  EXPECT_NE(wrong(right, {NAN, -INFINITY}), "");
}

// A sequence that saw no key has O 0, whose error is that of the difference alone.
TEST(RandomCheck, OfZeroTheErrorIsAbsolute) {
  const ReferenceResult nothing{.o = {0, 0}, .lse = {-INFINITY}};
  const std::vector<float> lse{-INFINITY};
  EXPECT_EQ(judge_rows(std::vector<float>{0, 0}, lse, nothing, tolerated).wrong, "");
  EXPECT_NE(judge_rows(std::vector<float>{0, 0.1f}, lse, nothing, tolerated).wrong, "");
}

}  // namespace
}  // namespace sawtooth::kernels
