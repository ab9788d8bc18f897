#include "tests/kernels/covering_points.hpp"

#include <algorithm>
#include <string_view>

#include "kernels/attention/choice.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int masks = 3;  // none, causal, window
constexpr int splits = 2;
constexpr int layouts = 3;

/// Variants that differ in their element type only.
struct TilingFamily {
  std::vector<KernelVariant> types;
};

std::vector<TilingFamily> tilings_of(std::span<const KernelVariant> variants) {
  std::vector<TilingFamily> tilings;
  for (const KernelVariant& variant : variants) {
    const auto same = std::find_if(tilings.begin(), tilings.end(), [&](const TilingFamily& other) {
      const KernelVariant& first = other.types.front();
      return std::string_view(first.family) == variant.family &&
             first.head_dim == variant.head_dim && first.tiling.q_rows == variant.tiling.q_rows &&
             first.tiling.kv_rows == variant.tiling.kv_rows;
    });
    if (same == tilings.end())
      tilings.push_back({{variant}});
    else
      same->types.push_back(variant);
  }
  return tilings;
}

RandomPoint covering_point(const KernelVariant& variant, int mask, int number) {
  RandomPoint point;
  Problem& problem = point.call.problem;
  const Tiling& tiling = variant.tiling;
  problem.batch = 1 + number % 2;
  problem.kv_heads = 1;
  problem.heads = 2;
  problem.seq_q = tiling.q_rows + tiling.q_rows / 2 + 1 + number % 5;
  problem.seq_kv = 2 * tiling.kv_rows + tiling.kv_rows / 3 + number % 7;
  problem.head_dim = variant.head_dim;
  problem.dtype = variant.dtype;
  problem.mask = {MaskKind(mask), tiling.kv_rows + 3};
  point.call.tiling = tiling;
  point.call.family = variant.family;

  // `number` counts through launches, scans and splits together; the rest has periods of its own.
  Schedule& schedule = point.call.schedule;
  schedule.launch.index = number % Launches::size;
  schedule.scan.index = number / Launches::size % Scans::size;
  schedule.kv_split = 1 + number / (Launches::size * Scans::size) % splits;
  schedule.order.q_order.index = number / 2 % QOrders::size;
  schedule.order.section = 1 + number % 2;
  schedule.workers = 1 + number % 5;
  schedule.prefetch = number / 2 % 3;
  schedule.seed = uint64_t(number);
  if (cuts_last_wave(schedule) && !variant.merges_pieces) schedule.launch = launch_id<StaticLaunch>;
  point.call.hints = {Eviction(number % 3), Eviction(number / 3 % 3), Eviction(number / 9 % 3)};
  point.layout = Layout(number / 4 % layouts);
  return point;
}

/// `balanced` with every scan and on every tiling whose kernels merge pieces.
void add_balanced_points(std::vector<TilingFamily> tilings, std::vector<RandomPoint>& points) {
  std::erase_if(tilings, [](const TilingFamily& one) { return !one.types.front().merges_pieces; });
  if (tilings.empty()) return;
  for (size_t i = 0; i < std::max(tilings.size(), size_t(Scans::size)); ++i) {
    const std::vector<KernelVariant>& types = tilings[i % tilings.size()].types;
    RandomPoint point = covering_point(types[i % types.size()], int(i % masks), int(i));
    point.call.schedule.launch = launch_id<BalancedLaunch>;
    point.call.schedule.scan.index = int(i) % Scans::size;
    point.call.schedule.kv_split = 1;
    points.push_back(point);
  }
}

/// Every masked kernel with every mask, both element types. The last Q tile has rows for one
/// warpgroup, so that the other lets an item pass before it has rows again.
void add_masked_points(std::span<const KernelVariant> variants, std::vector<RandomPoint>& points) {
  int number = 0;
  for (const KernelVariant& variant : variants) {
    int64_t keys_of_others = 0;
    for (const MaskedKernel& kernel : masked_kernels(variant)) {
      for (const MaskKind mask : {MaskKind::causal, MaskKind::window}) {
        RandomPoint point = covering_point(variant, int(mask), number++);
        point.call.problem.seq_q = variant.tiling.q_rows + variant.tiling.q_rows / 4 + number % 5;
        point.call.problem.seq_kv += keys_of_others;
        point.call.schedule.workers = 1;
        points.push_back(point);
      }
      keys_of_others = kernel.most_keys;
    }
  }
}

bool is_of(const RandomPoint& point, std::string_view family, const LaunchAndSplit& way) {
  const Schedule& schedule = point.call.schedule;
  return point.call.family == family && schedule.launch == way.launch &&
         (schedule.kv_split > 1) == way.split && has_second_items(point);
}

/// Every launch with and without split on every family that runs it, where no point has it yet.
void add_launches_of_families(const std::vector<TilingFamily>& tilings,
                              std::vector<RandomPoint>& points) {
  for (const TilingFamily& tiling : tilings)
    for (const LaunchAndSplit& way : launches_of(tiling.types.front())) {
      const KernelVariant& variant = tiling.types.front();
      const auto wanted = [&](const RandomPoint& one) { return is_of(one, variant.family, way); };
      if (std::any_of(points.begin(), points.end(), wanted)) continue;
      RandomPoint point;
      for (int number = 0; !wanted(point); ++number)
        point = covering_point(variant, number % masks, number);
      points.push_back(point);
    }
}

}  // namespace

bool has_second_items(const RandomPoint& point) {
  const AttentionForward& call = point.call;
  return whole_item_count(call.problem, call.tiling, call.schedule) > call.schedule.workers;
}

std::vector<LaunchAndSplit> launches_of(const KernelVariant& variant) {
  std::vector<LaunchAndSplit> launches;
  for (int launch = 0; launch < Launches::size; ++launch)
    for (const bool split : {false, true}) {
      const Schedule schedule{.launch = {launch}, .kv_split = split ? 2 : 1};
      if (variant.merges_pieces || !cuts_last_wave(schedule)) launches.push_back({{launch}, split});
    }
  return launches;
}

std::vector<RandomPoint> covering_points(std::span<const KernelVariant> variants) {
  constexpr size_t schedules = size_t(Launches::size) * Scans::size * splits;
  const std::vector<TilingFamily> tilings = tilings_of(variants);
  std::vector<RandomPoint> points;
  if (tilings.empty()) return points;
  for (size_t i = 0; i < std::max(tilings.size() * masks, schedules); ++i) {
    const TilingFamily& tiling = tilings[std::min(i / masks, tilings.size() - 1)];
    const int mask = int(i % masks);
    const KernelVariant& variant = tiling.types[(i / masks + i) % tiling.types.size()];
    points.push_back(covering_point(variant, mask, int(i)));
  }
  add_balanced_points(tilings, points);
  add_masked_points(variants, points);
  add_launches_of_families(tilings, points);
  return points;
}

}  // namespace sawtooth::kernels
