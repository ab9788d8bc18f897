#include "kernels/attention/backward.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "kernels/attention/automatic.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/launch.hpp"
#include "kernels/attention/workspace.hpp"
#include "kernels/mma/small_kernels.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::kernels {
namespace {

/// The kernel of a call that passes `check`, and its problem and schedule made whole.
struct Choice {
  const KernelVariant* variant = nullptr;
  Problem problem;
  Schedule schedule;
};

/// Byte offsets of what follows the state, on lines where the workspace begins on one.
struct WorkspaceLayout {
  std::size_t attach = aligned(state_size, line_bytes);
  std::size_t dq_turns = 0;  // what lies before is zero when the kernel of dQ starts
  std::size_t lse_log2 = 0;  // what lies before is zero when the main kernel starts
  std::size_t row_sums = 0;
  std::size_t dq_sums = 0;
  std::size_t dk_parts = 0;
  std::size_t dv_parts = 0;
  std::size_t bytes = 0;
};

WorkspaceLayout layout_of(const Choice& choice) {
  const Problem& problem = choice.problem;
  const Schedule& schedule = choice.schedule;
  WorkspaceLayout layout;
  const bool attach = schedule.scan == scan_id<AttachScan>;
  const int64_t heads = problem.batch * problem.heads;
  BackwardArguments sized;
  sized.problem = problem;
  sized.dq_in_parts = choice.variant->dq_in_parts;
  const std::size_t row_numbers = std::size_t(heads * sized.padded_rows()) * sizeof(float);
  layout.dq_turns =
      layout.attach +
      (attach ? aligned(std::size_t(problem.batch * problem.kv_heads) * sizeof(int), line_bytes)
              : 0);
  const int64_t turns =
      schedule.dq == Dq::ordered ? heads * q_tiles(problem, choice.variant->tiling) : 0;
  layout.lse_log2 = layout.dq_turns + aligned(std::size_t(turns) * sizeof(unsigned), line_bytes);
  layout.row_sums = layout.lse_log2 + row_numbers;
  layout.dq_sums = layout.row_sums + row_numbers;
  const std::size_t sums = std::size_t(heads * sized.dq_rows() * problem.head_dim) * sizeof(float);
  layout.dk_parts = layout.dq_sums + (schedule.dq == Dq::separate ? 0 : aligned(sums, line_bytes));
  const std::size_t parts = schedule.kv_split > 1
                                ? std::size_t(problem.batch * problem.kv_heads * schedule.kv_split *
                                              problem.seq_kv * problem.k_row_bytes())
                                : 0;
  layout.dv_parts = layout.dk_parts + aligned(parts, line_bytes);
  layout.bytes = layout.dv_parts + parts;
  return layout;
}

Outcome choose(const AttentionBackward& call, const DeviceLimits& device, Choice& choice) {
  if (Outcome bad = choose_variant(call, device, choice.variant); !bad) return bad;
  choice.problem = call.problem;
  choice.problem.pass = Pass::backward;
  choice.schedule =
      complete_schedule(call.schedule, choice.problem, *choice.variant, device, call.ctas_per_sm);
  // No larger than all heads, so that sums and products in the kernel stay in range.
  choice.schedule.order.section =
      min_of(choice.schedule.order.section,
             max_of(1, choice.problem.batch * choice.problem.kv_heads * choice.schedule.kv_split));
  return {};
}

BackwardArguments arguments_of(const AttentionBackward& call, const Choice& choice,
                               const WorkspaceLayout& layout, char* workspace) {
  const Problem& problem = choice.problem;
  const float scale = call.scale > 0 ? call.scale : 1 / std::sqrt(float(problem.head_dim));
  const auto of_queries = [&](const Strides& strides) {
    return or_contiguous(strides, problem.heads, problem.seq_q, problem.head_dim);
  };
  const auto of_keys = [&](const Strides& strides) {
    return or_contiguous(strides, problem.kv_heads, problem.seq_kv, problem.head_dim);
  };
  return {.problem = problem,
          .schedule = choice.schedule,
          .q = call.q,
          .k = call.k,
          .v = call.v,
          .o = call.o,
          .d_o = call.d_o,
          .lse = call.lse,
          .dq = call.dq,
          .dk = call.dk,
          .dv = call.dv,
          .q_strides = of_queries(call.q_strides),
          .k_strides = of_keys(call.k_strides),
          .v_strides = of_keys(call.v_strides),
          .o_strides = of_queries(call.o_strides),
          .d_o_strides = of_queries(call.d_o_strides),
          .dq_strides = of_queries(call.dq_strides),
          .dk_strides = of_keys(call.dk_strides),
          .dv_strides = of_keys(call.dv_strides),
          .scale = scale,
          .scale_log2 = scale * std::numbers::log2e_v<float>,
          .policies = {policy_of(call.hints.q), policy_of(call.hints.k), policy_of(call.hints.v)},
          .lse_log2 = reinterpret_cast<float*>(workspace + layout.lse_log2),
          .row_sums = reinterpret_cast<float*>(workspace + layout.row_sums),
          .dq_sums = choice.schedule.dq == Dq::separate
                         ? nullptr
                         : reinterpret_cast<float*>(workspace + layout.dq_sums),
          .ticket = reinterpret_cast<unsigned long long*>(workspace),
          .attach_tiles = reinterpret_cast<int*>(workspace + layout.attach),
          .dq_turns = reinterpret_cast<unsigned*>(workspace + layout.dq_turns),
          .trace = call.trace,
          .dq_in_parts = choice.variant->dq_in_parts,
          .dk_parts = workspace + layout.dk_parts,
          .dv_parts = workspace + layout.dv_parts};
}

/// What the main kernel gets: it stores parts of dK and dV where there are some.
BackwardArguments of_main_kernel(BackwardArguments arguments) {
  const Problem& problem = arguments.problem;
  if (arguments.schedule.kv_split == 1) return arguments;
  arguments.dk = arguments.dk_parts;
  arguments.dv = arguments.dv_parts;
  arguments.dk_strides = arguments.dv_strides = contiguous_strides(
      problem.kv_heads * arguments.schedule.kv_split, problem.seq_kv, problem.head_dim);
  return arguments;
}

/// Under `static` a CTA that has not begun holds items that others wait for, so all must run at
/// once. (CTAs of `grid` begin in the order of their items, and those of `dynamic` draw them.)
Outcome check_residence(const KernelVariant& variant, int64_t workers, std::size_t shared_bytes,
                        const DeviceLimits& device) {
  int ctas = 0;
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &ctas, variant.function_for(Dq::ordered), variant.threads(), shared_bytes);
  if (error != cudaSuccess) return failed("counting CTAs an SM", error);
  if (const int64_t most = int64_t{ctas} * device.sms; workers > most)
    return {Status::bad_schedule,
            "workers is " + std::to_string(workers) +
                "; allowed with dq = ordered and launch = static: up to the " +
                std::to_string(most) + " that the device runs at once"};
  return {};
}

/// Maps are those of Q, K, V and dO. A tensor of a side without rows is not read; its map is none.
Outcome make_maps(const KernelVariant& variant, const BackwardArguments& arguments,
                  std::array<CUtensorMap, 4>& maps) {
  const auto tensors =
      mapped_tensors(variant, arguments, {arguments.d_o, arguments.d_o_strides, variant.q_box});
  maps = {};
  for (std::size_t i = 0; i < maps.size(); ++i)
    if (tensors[i].rows > 0)
      if (Outcome bad = make_map(variant, arguments.problem, tensors[i], maps[i]); !bad) return bad;
  return {};
}

/// Launch state up to byte `end` of the workspace becomes zero, but for the ticket where a kernel
/// finds and leaves that as zero.
Outcome reset_state(const AttentionBackward& call, const Choice& choice,
                    const WorkspaceLayout& layout, std::size_t end,
                    const BackwardArguments& arguments, CUstream_st* stream) {
  const bool keeps_ticket =
      call.workspace_starts_zero || choice.schedule.launch != launch_id<DynamicLaunch>;
  const std::size_t first_zero = keeps_ticket ? layout.attach : 0;
  if (end <= first_zero) return {};
  char* const workspace = reinterpret_cast<char*>(arguments.ticket);
  const cudaError_t error = cudaMemsetAsync(workspace + first_zero, 0, end - first_zero, stream);
  return error == cudaSuccess ? Outcome{} : failed("resetting the launch state", error);
}

Outcome enqueue_main(const AttentionBackward& call, const Choice& choice,
                     const DeviceLimits& device, const WorkspaceLayout& layout,
                     const BackwardArguments& of_call, CUstream_st* stream) {
  const Schedule& schedule = choice.schedule;
  BackwardArguments arguments = of_main_kernel(of_call);
  const int64_t items = item_count(choice.problem, choice.variant->tiling, schedule);
  if (items == 0) return {};
  if (Outcome bad = reset_state(call, choice, layout, layout.lse_log2, arguments, stream); !bad)
    return bad;
  std::size_t shared_bytes = 0;
  const KernelVariant& variant = *choice.variant;
  if (Outcome bad =
          prepare_kernel(variant, variant.shared_bytes, call.ctas_per_sm, device, shared_bytes);
      !bad)
    return bad;
  const unsigned workers = ctas_of(schedule, items);
  if (schedule.dq == Dq::ordered && schedule.launch == launch_id<StaticLaunch>)
    if (Outcome bad = check_residence(variant, workers, shared_bytes, device); !bad) return bad;
  std::array<CUtensorMap, 4> maps;
  void* parameters[] = {&maps[0], &maps[1], &maps[2], &maps[3], &arguments};
  const bool mapped = variant.loads_by_copy_engine();
  if (mapped)
    if (Outcome bad = make_maps(variant, arguments, maps); !bad) return bad;
  return enqueue_kernel(variant, variant.function_for(schedule.dq), workers, shared_bytes,
                        mapped ? parameters : parameters + maps.size(), stream);
}

/// dq = separate: the kernel of dQ, with the same schedule of Q tiles; as many heads are a section
/// as share the K/V heads of one.
Outcome enqueue_dq(const AttentionBackward& call, const Choice& choice, const DeviceLimits& device,
                   const WorkspaceLayout& layout, const BackwardArguments& of_main,
                   CUstream_st* stream) {
  const KernelVariant& variant = *choice.variant;
  DqArguments arguments{of_main};
  arguments.problem.pass = Pass::forward;
  arguments.schedule.order.section *= heads_of_item(arguments.problem, arguments.schedule);
  arguments.schedule.kv_split = 1;
  arguments.trace = {};
  if (Outcome bad = reset_state(call, choice, layout, layout.dq_turns, arguments, stream); !bad)
    return bad;
  std::size_t shared_bytes = 0;
  const int ctas_per_sm = call.ctas_per_sm > 0 ? call.ctas_per_sm : variant.ctas_per_sm;
  if (Outcome bad = prepare_kernel(variant, variant.dq_kernel.shared_bytes, ctas_per_sm, device,
                                   shared_bytes);
      !bad)
    return bad;
  const int64_t items = item_count(arguments.problem, variant.tiling, arguments.schedule);
  void* parameters[] = {&arguments};
  return enqueue_kernel(variant, variant.dq_kernel.function, ctas_of(arguments.schedule, items),
                        shared_bytes, parameters, stream);
}

}  // namespace

std::size_t workspace_bytes(const AttentionBackward& call) {
  Choice choice;
  if (!choose(call, current_device(), choice)) return state_size;
  return layout_of(choice).bytes;
}

Outcome attention_backward(const AttentionBackward& call, void* workspace, std::size_t bytes,
                           CUstream_st* stream) {
  if (Outcome bad = check(call); !bad) return bad;
  int error = cudaSuccess;
  const DeviceLimits device = current_device(&error);
  Choice choice;
  if (Outcome bad = choose(call, device, choice); !bad) return bad;
  const WorkspaceLayout layout = layout_of(choice);
  if (Outcome bad = check_workspace(workspace, bytes, layout.bytes); !bad) return bad;
  if (device.compute_capability == 0) return failed("looking for a device", error);
  const BackwardArguments arguments =
      arguments_of(call, choice, layout, static_cast<char*>(workspace));
  const bool has_rows = !has_no_query(call.problem);
  if (call.kernels.before && has_rows)
    if (const cudaError_t bad = launch_row_sums(arguments, stream); bad != cudaSuccess)
      return failed("launching the sums of dO * O", bad);
  if (call.kernels.main)
    if (Outcome bad = enqueue_main(call, choice, device, layout, arguments, stream); !bad)
      return bad;
  const bool separate = choice.schedule.dq == Dq::separate;
  if (call.kernels.main && has_rows && separate)
    if (Outcome bad = enqueue_dq(call, choice, device, layout, arguments, stream); !bad) return bad;
  const bool has_items = item_count(choice.problem, choice.variant->tiling, choice.schedule) > 0;
  if (call.kernels.behind && choice.schedule.kv_split > 1 && has_items)
    if (const cudaError_t bad = launch_sums_of_parts(arguments, stream); bad != cudaSuccess)
      return failed("launching the sums of parts of dK and dV", bad);
  if (call.kernels.behind && has_rows && !separate)
    if (const cudaError_t bad = launch_dq_conversion(arguments, stream); bad != cudaSuccess)
      return failed("launching the conversion of dQ", bad);
  return {};
}

}  // namespace sawtooth::kernels
