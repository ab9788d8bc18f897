#include "sim/timed/parameters.hpp"

#include <stdexcept>
#include <string>
#include <variant>

#include "scheduler/memory_units.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {
namespace {

constexpr double flop_per_tera = 1e12;
constexpr double ns_a_second = 1e9;
constexpr double ns_a_ms = 1e6;

double required(const std::optional<double>& value, const char* key, const Gpu& gpu) {
  if (value) return *value;
  throw std::invalid_argument("timing = timed: the profile of gpu " + gpu.name + " has no " + key);
}

L2Parameters l2_parameters(const Request& request, const Gpu& gpu, bool halves) {
  L2Parameters l2;
  l2.lines.halves = halves && gpu.l2_halves.value_or(1) == 2 ? 2 : 1;
  // A written line lies in its home half alone, and the spilled ones of all CTAs are always young.
  const int64_t spilled = request.kernel.spill_bytes * request.schedule.workers;
  if (spilled >= request.l2_bytes)
    throw std::invalid_argument("spill-bytes: the CTAs in flight spill " + std::to_string(spilled) +
                                " bytes, all that L2 has; allowed: less than l2-bytes / workers");
  l2.lines.capacity_lines = (request.l2_bytes - spilled) / l2.lines.halves / line_bytes;
  const bool known = l2.lines.halves == 2 && gpu.l2_ways && gpu.l2_reserved_share;
  if (known && !request.without.has(Mechanism::soft_edge)) {
    l2.lines.ways = static_cast<int>(*gpu.l2_ways);
    if (!request.without.has(Mechanism::early_write_back))
      l2.lines.dirty_ways = static_cast<int>(gpu.l2_dirty_ways.value_or(0));
    l2.lines.reserved = *gpu.l2_reserved_share;
    l2.lines.pages = request.seed_of_launch();
    l2.lines.one_allocation = request.without.has(Mechanism::scattered_pages);
    if (!l2.lines.one_allocation) l2.lines.scattered = gpu.l2_scattered_share.value_or(0);
  }
  if (!request.without.has(Mechanism::latency)) {
    l2.near_ns = required(gpu.latency_near_ns, "latency-near-ns", gpu);
    if (l2.lines.halves == 2) l2.far_ns = required(gpu.latency_far_ns, "latency-far-ns", gpu);
    l2.dram_ns = required(gpu.latency_dram_ns, "latency-dram-ns", gpu);
  }
  if (!request.without.has(Mechanism::bandwidth)) {
    l2.l2_bytes_a_ns = gpu.l2_gb_per_s.value_or(0);
    l2.port_bytes_a_ns = l2.l2_bytes_a_ns / double(gpu.sms);
    l2.dram_bytes_a_ns = gpu.dram_gb_per_s.value_or(0) * request.kernel.dram_share;
  }
  l2.dram_window_ns = gpu.dram_window_us.value_or(0) * ns_a_us;
  if (request.kernel.lead_k_steps && !request.without.has(Mechanism::bandwidth))
    l2.port_bytes_a_ns = gpu.tile_gb_per_s.value_or(l2.port_bytes_a_ns);
  if (l2.lines.halves == 2) l2.layout = gpu.layout;
  l2.coalescer_sms = static_cast<int>(gpu.coalescer_sms.value_or(1));
  return l2;
}

void set_rates(const KernelCost& kernel, const Gpu& gpu, StepParameters& step) {
  const double sms = double(gpu.sms);
  double tensor = kernel.tensor_tflops.value_or(0);
  if (!kernel.tensor_tflops && kernel.tensor_share > 0)
    tensor = required(gpu.bf16_tflops, "bf16-tflops", gpu) * gpu.mma_share.value_or(1) *
             kernel.tensor_share;
  step.tensor_flop_a_ns = tensor * flop_per_tera / ns_a_second / sms;
  if (kernel.exp_tera_per_s) {
    step.exp_a_ns = *kernel.exp_tera_per_s * flop_per_tera / ns_a_second / sms;
  } else if (kernel.exp_per_clock > 0) {
    step.exp_a_ns = kernel.exp_per_clock * required(gpu.sm_clock_mhz, "sm-clock-mhz", gpu) / 1000;
  }
}

// Without the costs of mechanisms that are switched off.
KernelCost switched(KernelCost cost, MechanismSet without) {
  KernelCost none;
  for (const ProfileKey<KernelCost>& key : kernel_cost_keys) {
    if (!key.mechanism || !without.has(*key.mechanism)) continue;
    std::visit([&](auto* value) { *value = *std::get<decltype(value)>(key.place(none)); },
               key.place(cost));
  }
  return cost;
}

StepParameters step_parameters(const Request& request, const Gpu& gpu) {
  const auto on = [&](Mechanism mechanism) { return !request.without.has(mechanism); };
  StepParameters step{switched(request.kernel, request.without)};
  set_rates(step, gpu, step);
  if (step.lead_k_steps && step.lead_v_steps)
    step.leads = Leads{*step.lead_k_steps, *step.lead_v_steps};
  step.refill_ns = step.refill_ns.value_or(on(Mechanism::item_cost) ? gpu.refill_ns : 0);
  if (!step.prefetch_shared.step_ns) step.prefetch_shared.step_ns = step.prefetch.step_ns;
  if (!step.prefetch_shared.lines_ns) step.prefetch_shared.lines_ns = step.prefetch.lines_ns;
  step.jitter_shared = step.jitter_shared.value_or(step.jitter);
  step.jitter_in_step = step.jitter_in_step.value_or(*step.jitter_shared);
  if (!request.running.on || request.running.begins) step.staggered = {};
  if (request.running.finishes) step.staggered.share = step.staggered.finish_share;
  step.phases_meet = on(Mechanism::jitter) && (request.problem.mask.kind != MaskKind::none ||
                                               request.schedule.launch == launch_id<GridLaunch>);
  step.sm_spread = step.sm_spread.value_or(on(Mechanism::sm_spread) ? gpu.sm_spread : 0);
  if (request.schedule.prefetch > 0)
    step.tpc_spread = step.tpc_spread_prefetch.value_or(step.tpc_spread);
  if (step.keep_step) step.age_bias = 0;
  step.launch_ns = step.launch_ns.value_or(on(Mechanism::starts) ? gpu.launch_ns : 0);
  if (on(Mechanism::starts)) {
    step.start_spread_ns = gpu.start_spread_ns;
    step.start_uneven_share = gpu.start_uneven_share;
  }
  return step;
}

// A kernel of another speed: its products and exponentials keep their shares of a step.
void scale_step(const Request& request, StepParameters& step) {
  const double pace = request.kernel.pace;
  const auto scale = [&step](double faster) {
    step.tensor_flop_a_ns *= faster;
    step.exp_a_ns *= faster;
    step.fixed_ns /= faster;
  };
  step.exposed_ns *= pace;
  step.item_begin_ns *= pace;
  step.item_end_ns *= pace;
  if (!request.kernel.step_ns) return scale(1 / pace);
  const StepCost cost = step_cost(step, request.problem, request.tiling);
  if (cost.pipe_ns() <= 0) {
    throw std::invalid_argument(
        "step-ns: no rate of products is known to scale; give the kernel's costs tensor-tflops or "
        "the gpu's profile bf16-tflops");
  }
  const double paged_ns = request.sequences.pages.paged() ? request.kernel.page_step_ns : 0;
  scale(cost.pipe_ns() / (*request.kernel.step_ns + paged_ns) / pace);
}

// A tile takes as many latencies as its loads wait for, one after another.
void set_waits(const KernelCost& kernel, L2Parameters& l2) {
  if (kernel.lead_k_steps.has_value() != kernel.lead_v_steps.has_value())
    throw std::invalid_argument(std::string(kernel.lead_k_steps ? "lead-v-steps" : "lead-k-steps") +
                                ": is missing; allowed: both leads or neither");
  if (kernel.waits_a_tile != 1 && !kernel.lead_k_steps)
    throw std::invalid_argument(
        "waits-a-tile: has no effect alone; allowed: with lead-k-steps and lead-v-steps");
  if (kernel.dram_late_ns > 0 && kernel.lead_k_steps)
    throw std::invalid_argument(
        "dram-late-ns: has no effect with lead-k-steps; allowed: without leads");
  l2.near_ns *= kernel.waits_a_tile;
  l2.far_ns *= kernel.waits_a_tile;
  l2.dram_ns *= kernel.waits_a_tile;
}

// Nothing ends before it begins.
void check_times(const Request& request, const StepParameters& step) {
  const double alone_ns = step_cost(step, request.problem, request.tiling).alone_ns();
  for (const PrefetchTimes& cost : {step.prefetch, step.prefetch_shared}) {
    const double least_ns = std::min(cost.added_ns(0), cost.added_ns(1));
    if (request.schedule.prefetch == 0 || least_ns >= 0 || alone_ns + least_ns > 0) continue;
    throw std::invalid_argument("prefetch-step-ns: prefetch takes " + std::to_string(-least_ns) +
                                " ns from steps of " + std::to_string(alone_ns) +
                                " ns; allowed: less than a step");
  }
}

}  // namespace

TimedParameters timed_parameters(const Request& request, const Gpu& gpu, bool halves) {
  if (element_bytes(request.problem.dtype) != 2 && !request.kernel.step_ns)
    throw std::invalid_argument(
        "timing = timed: costs are of bf16 and fp16; dtype = fp8 or dtype = fp32 needs step-ns");
  if (gpu.sms < 1) {
    throw std::invalid_argument("timing = timed: needs a gpu with its number of SMs; name one");
  }
  TimedParameters parameters{.sms = gpu.sms,
                             .resident_ctas = request.kernel.resident_ctas,
                             .stalls = !request.without.has(Mechanism::stalls),
                             .merging = !request.without.has(Mechanism::merging),
                             .sharing = !request.without.has(Mechanism::sharing),
                             .ticket_race = !request.without.has(Mechanism::ticket_race),
                             .l2 = l2_parameters(request, gpu, halves),
                             .step = step_parameters(request, gpu)};
  if (!request.without.has(Mechanism::starts)) {
    parameters.launch_dram_read_sectors = gpu.launch_dram_read_sectors;
    parameters.launch_fabric_read_sectors = halves ? gpu.launch_fabric_read_sectors : 0;
  }
  parameters.ticket_hop_ns = gpu.ticket_hop_ns && !request.without.has(Mechanism::latency)
                                 ? *gpu.ticket_hop_ns
                                 : parameters.l2.far_ns - parameters.l2.near_ns;
  if (!request.without.has(Mechanism::power)) {
    constexpr double bytes_a_ns_a_tb_per_s = 1000;
    parameters.power = {.delay_ns = gpu.power_delay_ms * ns_a_ms,
                        .fall_ns = gpu.power_fall_ms * ns_a_ms,
                        .slowness = request.kernel.power_slowness};
    parameters.dram_slowness = request.kernel.dram_slowness / bytes_a_ns_a_tb_per_s;
  }
  set_waits(request.kernel, parameters.l2);
  scale_step(request, parameters.step);
  check_times(request, parameters.step);
  return parameters;
}

}  // namespace sawtooth::sim
