#include "tests/kernels/backward_points.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <random>
#include <sstream>
#include <stdexcept>

#include "tests/kernels/plain_reference.hpp"
#include "tests/kernels/random_points.hpp"

namespace sawtooth::kernels {
namespace {

constexpr const char* gradient_names[] = {"dQ", "dK", "dV"};

std::string in_powers_of_ten(double value) {
  std::ostringstream text;
  text << std::scientific << std::setprecision(2) << value;
  return text.str();
}

double scale_of(const AttentionBackward& call) {
  return call.scale > 0 ? double(call.scale) : 1 / std::sqrt(double(call.problem.head_dim));
}

ReferenceResult forward_for(const Problem& problem, double scale, const AttentionInputs& in) {
#if defined(SAWTOOTH_HAVE_EIGEN_REFERENCE)
  return attention_reference(problem, scale, in.q, in.k, in.v);
#else
  return plain_reference(problem, scale, in.q, in.k, in.v);
#endif
}

ReferenceGradients gradients_for(const Problem& problem, double scale, const BackwardInputs& in) {
#if defined(SAWTOOTH_HAVE_EIGEN_REFERENCE)
  return gradients_reference(problem, scale, in.forward.q, in.forward.k, in.forward.v, in.d_o);
#else
  return plain_gradients(problem, scale, in.forward.q, in.forward.k, in.forward.v, in.d_o);
#endif
}

/// `launch` counts those that the backward pass has.
LaunchId backward_launch(int64_t launch) {
  constexpr LaunchId launches[] = {launch_id<GridLaunch>, launch_id<StaticLaunch>,
                                   launch_id<DynamicLaunch>};
  return launches[launch % 3];
}

AttentionBackward call_of(const KernelVariant& variant) {
  AttentionBackward call;
  set_variant(call, variant);
  call.problem.pass = Pass::backward;
  call.schedule = {};
  return call;
}

/// These variants of the build are of a family (empty: any), and the device can run them.
std::vector<KernelVariant> runnable_variants(std::string_view family) {
  std::vector<KernelVariant> variants;
  for (const KernelVariant& one : backward_variants())
    if (one.serves(family) && (!one.needs_device() || runs_here(one))) variants.push_back(one);
  if (variants.empty())
    throw std::runtime_error("no backward kernel of the family '" + std::string(family) +
                             "' runs here");
  return variants;
}

}  // namespace

BackwardPoint random_backward_point(uint64_t seed, std::string_view family) {
  Draws pick(seed * 0x9e3779b97f4a7c15ull + 2);
  const auto variants = runnable_variants(family);
  BackwardPoint point{.call = call_of(variants[seed % variants.size()])};
  Problem& problem = point.call.problem;
  problem.batch = pick(1, 2);
  problem.kv_heads = pick(1, 2);
  problem.heads = problem.kv_heads * pick(1, 3);
  problem.seq_q = pick(0, 4) == 0 ? pick(1, 20) : pick(1, 500);
  problem.seq_kv = pick(0, 2) == 0 ? problem.seq_q : pick(1, 550);
  problem.mask.kind = MaskKind(pick(0, 2));
  problem.mask.window = pick(0, 1) == 0 ? pick(1, 40) : pick(1, 500);
  if (pick(0, 3) == 0) point.call.scale = 0.02f * float(pick(1, 10));

  Schedule& schedule = point.call.schedule;
  schedule.launch = backward_launch(pick(0, 2));
  if (pick(0, 1) == 0) schedule.kv_split = problem.heads_per_kv_head();
  draw_order(schedule, pick);
  schedule.seed = uint64_t(pick(0, 1000));
  schedule.dq = pick(0, 2) == 0 ? Dq::ordered : Dq::atomic;
  const KernelVariant& variant = variants[seed % variants.size()];
  if (variant.separate_function != nullptr && pick(0, 2) == 0) schedule.dq = Dq::separate;
  point.call.hints = {Eviction(pick(0, 2)), Eviction(pick(0, 2)), Eviction(pick(0, 2))};
  point.layout = Layout(pick(0, 2));
  return point;
}

std::vector<BackwardPoint> covering_backward_points(std::string_view family) {
  constexpr int masks = 3, layouts = 3;
  constexpr int one_key = masks * Scans::size;  // the last point of a variant: rows see one key
  std::vector<BackwardPoint> points;
  for (const KernelVariant& variant : runnable_variants(family))
    for (int number = 0; number <= one_key; ++number) {
      BackwardPoint point{.call = call_of(variant)};
      Problem& problem = point.call.problem;
      problem.batch = 1 + number % 2;
      problem.heads = 2;
      problem.kv_heads = 1 + number / 2 % 2;
      problem.seq_q = 2 * variant.tiling.q_rows + variant.tiling.q_rows / 3 + number % 7;
      problem.seq_kv = variant.tiling.kv_rows + variant.tiling.kv_rows / 2 + number % 5;
      problem.mask = {MaskKind(number % masks), variant.tiling.q_rows + 3};
      if (number == one_key) problem.mask = {MaskKind::window, 1};
      Schedule& schedule = point.call.schedule;
      schedule.launch = backward_launch(number / 2);
      schedule.scan.index = number % Scans::size;
      schedule.order.q_order.index = number / 3 % QOrders::size;
      schedule.order.section = 1 + number % 2;
      schedule.workers = 1 + number % 4;
      if (number / 3 % 2 == 0) schedule.kv_split = problem.heads_per_kv_head();
      schedule.seed = uint64_t(number);
      schedule.dq = number / 5 % 2 == 0 ? Dq::atomic : Dq::ordered;
      if (variant.separate_function != nullptr && number / 5 % 3 == 2) schedule.dq = Dq::separate;
      point.layout = Layout(number / 4 % layouts);
      points.push_back(point);
    }
  return points;
}

std::string describe(const BackwardPoint& point) {
  const Schedule& schedule = point.call.schedule;
  std::ostringstream text;
  text << point.call.family << " backward";
  describe(text, point.call.problem, point.call.tiling, schedule);
  constexpr const char* additions[] = {"", " ordered", " separate"};
  text << additions[size_t(schedule.dq)] << " layout " << int(point.layout) << " scale "
       << point.call.scale;
  return text.str();
}

BackwardInputs random_backward_inputs(const Problem& problem, double scale, uint64_t seed) {
  constexpr uint64_t of_d_o = 0x5bd1e995;
  BackwardInputs inputs;
  inputs.forward = random_inputs(problem, seed, 1.0f);
  std::mt19937_64 generator(seed ^ of_d_o);
  inputs.d_o = random_elements(int64_t(inputs.forward.q.size()), problem.dtype, 1.0f, generator);
  const ReferenceResult forward = forward_for(problem, scale, inputs.forward);
  for (const double value : forward.o)
    inputs.o.push_back(representable(float(value), problem.dtype));
  inputs.lse.assign(forward.lse.begin(), forward.lse.end());
  return inputs;
}

double gradient_error(const std::vector<float>& gradient, const std::vector<double>& reference) {
  constexpr double least_rms = 1e-2;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    difference += std::pow(double(gradient[i]) - reference[i], 2);
    norm += std::pow(reference[i], 2);
  }
  return std::sqrt(difference) /
         std::max(std::sqrt(norm), least_rms * std::sqrt(double(reference.size())));
}

double allowed_gradient_error(ElementType dtype) {
  switch (dtype) {
    case ElementType::bf16:
      return 1e-2;
    case ElementType::fp16:
      return 2e-3;
    default:  // fp32; kernels take no type of 8 bits
      break;
  }
  return 1e-4;
}

std::string run_and_judge(const BackwardPoint& point, uint64_t seed, GradientErrors& worst) {
  const Problem& problem = point.call.problem;
  const BackwardInputs inputs = random_backward_inputs(problem, scale_of(point.call), seed);
  const ReferenceGradients reference = gradients_for(problem, scale_of(point.call), inputs);
  const BackwardResults results = run_backward(point.call, inputs, point.layout);
  const GradientErrors errors{gradient_error(results.dq, reference.dq),
                              gradient_error(results.dk, reference.dk),
                              gradient_error(results.dv, reference.dv)};
  std::string wrong;
  for (size_t i = 0; i < errors.size(); ++i) {
    worst[i] = std::max(worst[i], errors[i]);
    if (!(errors[i] <= allowed_gradient_error(problem.dtype)))
      wrong += std::string(wrong.empty() ? "" : "; ") + "relative error of " + gradient_names[i] +
               " is " + in_powers_of_ten(errors[i]);
  }
  if (!results.gaps_untouched) wrong += "; memory outside of the gradients was written";
  if (wrong.empty())
    wrong = judge_trace(problem, point.call.tiling, point.call.schedule, results.trace());
  return wrong.empty() ? wrong : describe(point) + ": " + wrong;
}

}  // namespace sawtooth::kernels
