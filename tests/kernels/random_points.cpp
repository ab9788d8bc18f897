#include "tests/kernels/random_points.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "kernels/attention/choice.hpp"
#include "tests/kernels/plain_reference.hpp"
#include "tests/kernels/random_check.hpp"

namespace sawtooth::kernels {
namespace {

constexpr double lse_tolerance = 2e-3;  // absolute; scores carry float rounding only
constexpr double fp32_error = 1e-5;     // where scores are of order 1

float scale_of(const AttentionForward& call) {
  return call.scale > 0 ? call.scale : 1 / std::sqrt(float(call.problem.head_dim));
}

/// An error of a score is a relative error of its probability, and floats have relative errors: in
/// fp32 what is allowed grows with the scores.
double fp32_error_of(const RandomPoint& point) {
  const double of_scores = scale_of(point.call) * point.spread * point.spread *
                           std::sqrt(double(point.call.problem.head_dim));
  return fp32_error * std::max(1.0, of_scores);
}

double error_allowed_in(const RandomPoint& point) {
  const ElementType dtype = point.call.problem.dtype;
  return dtype == ElementType::fp32 ? fp32_error_of(point) : allowed_error(dtype);
}
double allowed_lse_error(const RandomPoint& point) {
  constexpr double largest_of_scores = 4;  // in standard deviations
  return point.call.problem.dtype == ElementType::fp32 ? largest_of_scores * fp32_error_of(point)
                                                       : lse_tolerance;
}

ReferenceResult reference_for(const Problem& problem, double scale, const AttentionInputs& in) {
#if defined(SAWTOOTH_HAVE_EIGEN_REFERENCE)
  return attention_reference(problem, scale, in.q, in.k, in.v);
#else
  return plain_reference(problem, scale, in.q, in.k, in.v);
#endif
}

/// O, log-sum-exp and the memory around O.
Judged judge(const RandomPoint& point, const AttentionResults& results,
             const ReferenceResult& reference) {
  Judged judged = judge_rows(results.o, results.lse, reference,
                             {error_allowed_in(point), allowed_lse_error(point)});
  if (judged.wrong.empty() && !results.gaps_untouched)
    judged.wrong = "memory outside of O was written";
  return judged;
}

/// What is wrong with results, or with the order that was traced, of a point that is named then.
std::string what_is_wrong(const RandomPoint& point, const Judged& judged,
                          const AttentionResults& results) {
  const AttentionForward& call = point.call;
  std::string wrong = judged.wrong;
  if (wrong.empty() && !results.items.empty()) {
    const KernelVariant* variant =
        find_variant(HeadDims(call.problem), call.problem.dtype, call.tiling, call.family);
    wrong = judge_trace(call.problem, variant->tiling, call.schedule, results.trace());
  }
  return wrong.empty() ? wrong : describe(point) + ": " + wrong;
}

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
             first.head_dims() == variant.head_dims() &&
             first.tiling.q_rows == variant.tiling.q_rows &&
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
  problem.mask = {MaskKind(mask), tiling.kv_rows + 3};
  set_variant(point.call, variant);

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

/// Every masked kernel, and its variant's own, with every mask, both element types. The last Q tile
/// has rows for one warpgroup, so that the other lets an item pass before it has rows again.
void add_masked_points(std::span<const KernelVariant> variants, std::vector<RandomPoint>& points) {
  int number = 0;
  for (const KernelVariant& variant : variants) {
    const MaskedKernel* masked = masked_kernel(variant);
    if (masked == nullptr) continue;
    for (const int64_t more_keys : {int64_t(0), masked->most_keys}) {
      for (const MaskKind mask : {MaskKind::causal, MaskKind::window}) {
        RandomPoint point = covering_point(variant, int(mask), number++);
        point.call.problem.seq_q = variant.tiling.q_rows + variant.tiling.q_rows / 4 + number % 5;
        point.call.problem.seq_kv += more_keys;
        point.call.schedule.workers = 1;
        points.push_back(point);
      }
    }
  }
}

void set_lists(RandomPoint& point, ListKind kind, uint64_t seed) {
  Problem& problem = point.call.problem;
  point.lists = std::make_shared<const HostLists>(kind, problem, point.call.tiling, seed);
  problem.mask = point.lists->mask();
}

/// Every kernel for lists with every kind of them, in turn with every launch, split and scan.
void add_listed_points(std::span<const KernelVariant> variants, std::vector<RandomPoint>& points) {
  std::vector<KernelVariant> listed;
  for (const KernelVariant& variant : variants)
    if (variant.listed_function != nullptr) listed.push_back(variant);
  if (listed.empty()) return;
  constexpr size_t schedules = size_t(Launches::size) * Scans::size * splits;
  for (size_t i = 0; i < std::max(listed.size() * list_kinds, schedules); ++i) {
    RandomPoint point = covering_point(listed[i % listed.size()], 0, int(i));
    set_lists(point, ListKind((i + i / listed.size()) % list_kinds), i);
    points.push_back(point);
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

RandomPoint random_point(uint64_t seed) {
  Draws pick(seed * 0x9e3779b97f4a7c15ull + 1);
  RandomPoint point;
  std::vector<KernelVariant> variants;
  for (const KernelVariant& one : kernel_variants())
    if (!one.needs_device() || runs_here(one)) variants.push_back(one);
  const KernelVariant& variant = variants[seed % variants.size()];  // each in its turn
  Problem& problem = point.call.problem;
  problem.batch = pick(1, 2);
  problem.kv_heads = pick(1, 2);
  problem.heads = problem.kv_heads * pick(1, 2);
  problem.seq_q = pick(0, 4) == 0 ? pick(1, 20) : pick(1, 400);
  problem.seq_kv = pick(0, 2) == 0 ? problem.seq_q : pick(1, 450);
  problem.mask.kind = MaskKind(pick(0, 2));
  problem.mask.window = pick(0, 1) == 0 ? pick(1, 40) : pick(1, 400);
  set_variant(point.call, variant);
  if (pick(0, 3) == 0) point.call.scale = 0.02f * float(pick(1, 20));

  Schedule& schedule = point.call.schedule;
  schedule.launch.index = int(pick(0, Launches::size - 1));
  draw_order(schedule, pick);
  schedule.kv_split = pick(0, 3) == 0 ? pick(2, 4) : 1;
  schedule.prefetch = pick(0, 1) == 0 ? 0 : pick(1, 4);
  schedule.seed = uint64_t(pick(0, 1000));
  if (cuts_last_wave(schedule) && !variant.merges_pieces) schedule.launch = launch_id<StaticLaunch>;
  point.call.hints = {Eviction(pick(0, 2)), Eviction(pick(0, 2)), Eviction(pick(0, 2))};
  point.layout = Layout(pick(0, 2));
  point.spread = pick(0, 3) == 0 ? 4.0f : 1.0f;
  if (variant.listed_function != nullptr && pick(0, 1) == 0)
    set_lists(point, ListKind(pick(0, list_kinds - 1)), seed);
  return point;
}

std::string describe(const RandomPoint& point) {
  const Schedule& schedule = point.call.schedule;
  std::ostringstream text;
  text << point.call.family;
  describe(text, point.call.problem, point.call.tiling, schedule);
  text << " split " << schedule.kv_split << " prefetch " << schedule.prefetch << " layout "
       << int(point.layout) << " spread " << point.spread << " scale " << point.call.scale;
  return text.str();
}

double allowed_error(ElementType dtype) {
  switch (dtype) {
    case ElementType::bf16:
      return 5e-3;
    case ElementType::fp16:
      return 1e-3;
    default:  // fp32; kernels take no type of 8 bits
      break;
  }
  return fp32_error;
}

std::string judge_point(const RandomPoint& point, const AttentionInputs& inputs,
                        const AttentionResults& results) {
  const ReferenceResult reference = reference_for(point.call.problem, scale_of(point.call), inputs);
  return what_is_wrong(point, judge(point, results, reference), results);
}

std::string run_and_judge(const RandomPoint& point, uint64_t seed, double& worst) {
  const AttentionInputs inputs = random_inputs(point.call.problem, seed, point.spread);
  const ReferenceResult reference = reference_for(point.call.problem, scale_of(point.call), inputs);
  const AttentionResults results = run_attention(point.call, inputs, point.layout, true);
  const Judged judged = judge(point, results, reference);
  worst = std::max(worst, judged.error);
  if (results.items.empty()) return describe(point) + ": no order was traced";
  return what_is_wrong(point, judged, results);
}

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
  add_listed_points(variants, points);
  return points;
}

}  // namespace sawtooth::kernels
