#include "sim/timed/parameters.hpp"

#include <stdexcept>

#include "scheduler/memory_units.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {
namespace {

// For GPUs that nobody has calibrated, as measured on an H200 (experiments/profiles/gpus/h200.ini).
constexpr double usual_near_ns = 154;
constexpr double usual_far_ns = 246;
constexpr double usual_dram_ns = 360;
constexpr double usual_exposed_ns = 440;
constexpr double usual_item_ns = 2000;
constexpr double usual_clock_mhz = 1800;

// CUDA C++ Programming Guide, "Arithmetic Instructions": results of ex2 a clock and SM, on every
// compute capability from 7.5 to 12.1.
constexpr double exp_a_clock = 16;

// mma.sync reaches about half of the datasheet's dense rate on Hopper, where wgmma has the rest.
constexpr double mma_share = 0.5;

// The shapes of kernels/mma with two CTAs an SM: head dims up to this, and wider ones.
constexpr int64_t narrow_head_dim = 64;

constexpr double flop_per_tera = 1e12;
constexpr double ns_a_second = 1e9;

L2Parameters l2_parameters(const Request& request, const GpuProfile& gpu, bool halves) {
  L2Parameters l2;
  l2.lines.halves = halves && gpu.l2_halves.value_or(1) == 2 ? 2 : 1;
  // A written line lies in its home half alone, and the spilled ones of all CTAs are always young.
  const int64_t spilled = request.speed.spill_bytes.value_or(0) * request.schedule.workers;
  if (spilled >= request.l2_bytes)
    throw std::invalid_argument("spill-bytes: the CTAs in flight spill " + std::to_string(spilled) +
                                " bytes, all that L2 has; allowed: less than l2-bytes / workers");
  l2.lines.capacity_lines = (request.l2_bytes - spilled) / l2.lines.halves / line_bytes;
  const bool known = l2.lines.halves == 2 && gpu.l2_ways && gpu.l2_reserved_share;
  if (known && !request.without.has(Mechanism::soft_edge)) {
    l2.lines.ways = static_cast<int>(*gpu.l2_ways);
    l2.lines.reserved = *gpu.l2_reserved_share;
    l2.lines.pages = request.seed_of_launch();
    l2.lines.one_allocation = request.without.has(Mechanism::scattered_pages);
    if (!l2.lines.one_allocation) l2.lines.scattered = gpu.l2_scattered_share.value_or(0);
  }
  if (!request.without.has(Mechanism::latency)) {
    l2.near_ns = gpu.latency_near_ns.value_or(usual_near_ns);
    l2.far_ns = gpu.latency_far_ns.value_or(usual_far_ns);
    l2.dram_ns = gpu.latency_dram_ns.value_or(usual_dram_ns);
  }
  if (!request.without.has(Mechanism::bandwidth)) {
    l2.l2_bytes_a_ns = gpu.l2_gb_per_s.value_or(0);
    l2.port_bytes_a_ns = gpu.port_gb_per_s.value_or(l2.l2_bytes_a_ns / double(gpu.sms));
    l2.fabric_bytes_a_ns = gpu.fabric_gb_per_s.value_or(0);
    l2.dram_bytes_a_ns = gpu.dram_gb_per_s.value_or(0);
  }
  l2.half_of_sms = gpu.cta_half;
  l2.coalescer_sms = static_cast<int>(gpu.coalescer_sms.value_or(1));
  return l2;
}

StepParameters step_parameters(const Request& request, const GpuProfile& gpu) {
  const auto on = [&](Mechanism mechanism) { return !request.without.has(mechanism); };
  const double sms = double(gpu.sms);
  StepParameters step;
  const double tensor = gpu.step_tensor_tflops.value_or(gpu.bf16_tflops.value_or(0) * mma_share);
  step.tensor_flop_a_ns = tensor * flop_per_tera / ns_a_second / sms;
  const double usual_exp = exp_a_clock * gpu.sm_clock_mhz.value_or(usual_clock_mhz) / 1000;
  step.exp_a_ns = gpu.step_exp_tera_per_s
                      ? *gpu.step_exp_tera_per_s * flop_per_tera / ns_a_second / sms
                      : usual_exp;
  step.fixed_ns = gpu.step_fixed_ns.value_or(0);
  step.exposed_ns = gpu.step_exposed_ns.value_or(usual_exposed_ns);
  if (on(Mechanism::item_cost)) {
    step.item_begin_ns = gpu.item_begin_ns.value_or(usual_item_ns);
    step.item_end_ns = gpu.item_end_ns.value_or(usual_item_ns);
    step.item_spread_ns = gpu.item_spread_ns.value_or(0);
    step.refill_ns = gpu.refill_ns.value_or(0);
  }
  if (on(Mechanism::prefetch_cost)) {
    step.prefetch = {.step_ns = gpu.prefetch_step_ns.value_or(0),
                     .lines_ns = gpu.prefetch_lines_ns.value_or(0)};
    step.prefetch_shared = {
        .step_ns = gpu.prefetch_step_shared_ns.value_or(step.prefetch.step_ns),
        .lines_ns = gpu.prefetch_lines_shared_ns.value_or(step.prefetch.lines_ns),
        .lines_bias = gpu.prefetch_lines_bias.value_or(0)};
  }
  const bool wide = request.problem.head_dim > narrow_head_dim;
  if (on(Mechanism::jitter)) {
    step.jitter = gpu.step_jitter.value_or(0);
    step.jitter_shared = gpu.step_jitter_shared.value_or(step.jitter);
    if (wide) step.jitter_shared = gpu.step_jitter_shared_wide.value_or(step.jitter_shared);
    step.jitter_in_step = gpu.step_jitter_in_step.value_or(step.jitter_shared);
  }
  if (on(Mechanism::sm_spread)) {
    step.sm_spread = gpu.sm_spread.value_or(0);
    step.sm_slowness = gpu.sm_slowness;
    step.sm_slowness_older = gpu.sm_slowness_older;
    step.sm_slowness_younger = gpu.sm_slowness_younger;
    step.tpc_spread = gpu.tpc_spread.value_or(0);
    if (request.schedule.prefetch > 0)
      step.tpc_spread = gpu.tpc_spread_prefetch.value_or(step.tpc_spread);
  }
  if (on(Mechanism::age_bias)) {
    step.age_bias = gpu.age_bias.value_or(0);
    if (wide) step.age_bias = gpu.age_bias_wide.value_or(step.age_bias);
    if (request.schedule.prefetch > 0)
      step.age_bias = gpu.age_bias_prefetch.value_or(step.age_bias);
  }
  if (on(Mechanism::starts)) {
    step.launch_ns = gpu.launch_ns.value_or(0);
    step.start_spread_ns = gpu.start_spread_ns.value_or(0);
  }
  return step;
}

// A kernel of another speed: its products and exponentials keep their shares of a step.
void set_speed(const Request& request, StepParameters& step) {
  const KernelSpeed& speed = request.speed;
  if (speed.step_ns) {
    const StepCost cost = step_cost(step, request.problem, request.tiling);
    if (cost.pipe_ns() <= 0) {
      throw std::invalid_argument(
          "step-ns: the profile has no rate of products to scale; give it "
          "step-tensor-tflops or bf16-tflops");
    }
    const double faster = cost.pipe_ns() / *speed.step_ns;
    step.tensor_flop_a_ns *= faster;
    step.exp_a_ns *= faster;
    step.fixed_ns /= faster;
  }
  if (speed.stages) step.stages = *speed.stages;
  if (speed.exposed_ns) step.exposed_ns = *speed.exposed_ns;
  if (speed.age_bias && !request.without.has(Mechanism::age_bias)) step.age_bias = *speed.age_bias;
  step.in_step = speed.age_bias == 0;
}

}  // namespace

TimedParameters timed_parameters(const Request& request, const GpuProfile& gpu, bool halves) {
  if (gpu.sms < 1) {
    throw std::invalid_argument("timing = timed: needs a gpu with its number of SMs; name one");
  }
  TimedParameters parameters{.sms = gpu.sms,
                             .resident_ctas = request.resident_ctas,
                             .stalls = !request.without.has(Mechanism::stalls),
                             .merging = !request.without.has(Mechanism::merging),
                             .sharing = !request.without.has(Mechanism::sharing),
                             .ticket_race = !request.without.has(Mechanism::ticket_race),
                             .ticket_half = static_cast<int>(gpu.ticket_half.value_or(0)),
                             .l2 = l2_parameters(request, gpu, halves),
                             .step = step_parameters(request, gpu)};
  parameters.ticket_hop_ns = gpu.ticket_hop_ns && !request.without.has(Mechanism::latency)
                                 ? *gpu.ticket_hop_ns
                                 : parameters.l2.far_ns - parameters.l2.near_ns;
  set_speed(request, parameters.step);
  return parameters;
}

}  // namespace sawtooth::sim
