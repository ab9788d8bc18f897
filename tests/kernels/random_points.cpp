#include "tests/kernels/random_points.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/kernels/plain_reference.hpp"

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
  problem.head_dim = variant.head_dim;
  problem.dtype = variant.dtype;
  problem.mask.kind = MaskKind(pick(0, 2));
  problem.mask.window = pick(0, 1) == 0 ? pick(1, 40) : pick(1, 400);
  point.call.tiling = variant.tiling;
  point.call.family = variant.family;
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
    case ElementType::fp32:
      break;
  }
  return fp32_error;
}

std::string judge(const RandomPoint& point, const AttentionResults& results,
                  const ReferenceResult& reference) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < reference.o.size(); ++i) {
    if (!std::isfinite(results.o[i])) return "O has an element that is not finite or not written";
    difference += std::pow(results.o[i] - reference.o[i], 2);
    norm += std::pow(reference.o[i], 2);
  }
  const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  if (!(error <= error_allowed_in(point))) {
    std::ostringstream text;
    text << "relative error of O is " << error;
    return text.str();
  }
  for (size_t i = 0; i < reference.lse.size(); ++i) {
    if (std::isinf(reference.lse[i])) {
      if (results.lse[i] != float(reference.lse[i])) return "lse of an empty row is not -inf";
    } else if (!(std::abs(results.lse[i] - reference.lse[i]) <= allowed_lse_error(point))) {
      return "lse of row " + std::to_string(i) + " is " + std::to_string(results.lse[i]) +
             ", expected " + std::to_string(reference.lse[i]);
    }
  }
  if (!results.gaps_untouched) return "memory outside of O was written";
  return {};
}

std::string judge_trace(const AttentionForward& call, const AttentionResults& results) {
  const KernelVariant* variant =
      find_variant(call.problem.head_dim, call.problem.dtype, call.tiling, call.family);
  return judge_trace(call.problem, variant->tiling, call.schedule, results.trace());
}

std::string judge_point(const RandomPoint& point, const AttentionInputs& inputs,
                        const AttentionResults& results) {
  std::string wrong =
      judge(point, results, reference_for(point.call.problem, scale_of(point.call), inputs));
  if (wrong.empty() && !results.items.empty()) wrong = judge_trace(point.call, results);
  return wrong.empty() ? wrong : describe(point) + ": " + wrong;
}

std::string run_and_judge(const RandomPoint& point, uint64_t seed, double& worst) {
  const AttentionInputs inputs = random_inputs(point.call.problem, seed, point.spread);
  const ReferenceResult reference = reference_for(point.call.problem, scale_of(point.call), inputs);
  const AttentionResults results = run_attention(point.call, inputs, point.layout, true);
  double difference = 0, norm = 0;
  for (size_t i = 0; i < reference.o.size(); ++i) {
    difference += std::pow(results.o[i] - reference.o[i], 2);
    norm += std::pow(reference.o[i], 2);
  }
  if (norm > 0) worst = std::max(worst, std::sqrt(difference / norm));
  std::string wrong = judge(point, results, reference);
  if (wrong.empty()) wrong = judge_trace(point.call, results);
  return wrong.empty() ? wrong : describe(point) + ": " + wrong;
}

}  // namespace sawtooth::kernels
