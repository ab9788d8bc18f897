#include <cmath>
#include <numbers>
#include <utility>

#include <cuda_runtime_api.h>

#include "kernels/attention/automatic.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/launch.hpp"
#include "kernels/attention/packed.hpp"
#include "kernels/attention/workspace.hpp"
#include "kernels/mma/small_kernels.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t fewest_kv_rows = 16;  // of a K/V tile: an mma's depth

/// Byte offsets of what follows the state, and may lie where other calls have other data.
struct WorkspaceLayout {
  std::size_t attach = state_size;
  std::size_t partial_o = 0;
  std::size_t partial_lse = 0;
  std::size_t pieces = 0;
  std::size_t bytes = 0;
};

WorkspaceLayout layout_of(const Problem& problem, const Schedule& schedule, const Tiling& tiling) {
  WorkspaceLayout layout;
  const bool attach = schedule.scan == scan_id<AttachScan>;
  layout.partial_o =
      layout.attach +
      (attach ? aligned(std::size_t(problem.batch * problem.kv_heads) * sizeof(int)) : 0);
  const std::size_t part_rows =
      schedule.kv_split > 1
          ? std::size_t(problem.batch * problem.heads * schedule.kv_split * problem.seq_q)
          : 0;
  layout.partial_lse =
      layout.partial_o + aligned(part_rows * std::size_t(problem.v_dim()) * sizeof(float));
  layout.pieces = layout.partial_lse + aligned(part_rows * sizeof(float));
  const int64_t piece_rows =
      cuts_last_wave(schedule) ? most_pieces(schedule.workers) * tiling.q_rows : 0;
  layout.bytes =
      layout.pieces +
      std::size_t(piece_rows * (problem.v_dim() + piece_floats_beside_o)) * sizeof(float);
  return layout;
}

/// Whether CTAs read the ticket or count arrivals.
bool reads_state(const Schedule& schedule) {
  return schedule.launch == launch_id<DynamicLaunch> || cuts_last_wave(schedule);
}

/// With a launch that every kernel knows: `balanced` that cuts nothing, because kv-split does, is
/// `static`, and kernels that merge no pieces know it by that name only. A section of all heads and
/// a prefetch past the last tile are given by no larger number than that, so that sums and products
/// in the kernels stay in range.
Schedule known_to_all(Schedule schedule, const Problem& problem) {
  schedule.order.section =
      min_of(schedule.order.section, problem.batch * problem.heads * schedule.kv_split);
  schedule.prefetch = min_of(schedule.prefetch, ceil_div(problem.seq_kv, fewest_kv_rows));
  if (schedule.launch == launch_id<BalancedLaunch> && !cuts_last_wave(schedule))
    schedule.launch = launch_id<StaticLaunch>;
  return schedule;
}

/// The kernel and the whole schedule of a call that passes `check`.
struct Choice {
  const KernelVariant* variant = nullptr;
  Schedule schedule;
};

Outcome choose(const AttentionForward& call, const DeviceLimits& device, Choice& choice) {
  if (Outcome bad = choose_variant(call, device, choice.variant); !bad) return bad;
  AttentionForward whole = call;
  if (is_packed(call)) whole.schedule = packed_schedule(call);
  choice.schedule =
      complete_schedule(whole.schedule, call.problem, *choice.variant, device, call.ctas_per_sm);
  if (call.running.o != nullptr) choice.schedule.kv_split = 1;  // parts are summed already
  whole.schedule = choice.schedule;
  return suits(whole, *choice.variant);
}

}  // namespace

ForwardArguments arguments_of(const AttentionForward& call, const Tiling& tiling,
                              const Schedule& schedule, char* workspace) {
  const Problem& problem = call.problem;
  const WorkspaceLayout layout = layout_of(problem, schedule, tiling);
  const int64_t head_dim = problem.head_dim;
  const float scale = call.scale > 0 ? call.scale : 1 / std::sqrt(float(head_dim));
  const bool split = schedule.kv_split > 1;
  return {
      .problem = problem,
      .schedule = known_to_all(schedule, problem),
      .q = call.q,
      .k = call.k,
      .v = call.v,
      .o = call.o,
      .lse = call.lse,
      .q_strides = or_contiguous(call.q_strides, problem.heads, problem.seq_q, head_dim),
      .k_strides = or_contiguous(call.k_strides, problem.kv_heads, problem.seq_kv, head_dim),
      .v_strides = or_contiguous(call.v_strides, problem.kv_heads, problem.seq_kv, problem.v_dim()),
      .o_strides = or_contiguous(call.o_strides, problem.heads, problem.seq_q, problem.v_dim()),
      .scale_log2 = scale * std::numbers::log2e_v<float>,
      .policies = {policy_of(call.hints.q), policy_of(call.hints.k), policy_of(call.hints.v)},
      .partial_o = split ? reinterpret_cast<float*>(workspace + layout.partial_o) : nullptr,
      .partial_lse = split ? reinterpret_cast<float*>(workspace + layout.partial_lse) : nullptr,
      .pieces = reinterpret_cast<float*>(workspace + layout.pieces),
      .ticket = reinterpret_cast<unsigned long long*>(workspace),
      .attach_tiles = reinterpret_cast<int*>(workspace + layout.attach),
      .piece_arrivals = reinterpret_cast<unsigned*>(workspace + arrivals_offset),
      .trace = call.trace};
}

RunningResults running_of(const AttentionForward& call) {
  const Running& running = call.running;
  return {running.o, running.lse,
          running.lse_head_rows > 0 ? running.lse_head_rows : call.problem.seq_q, running.begins};
}

const std::size_t workspace_state_bytes = state_size;

std::size_t workspace_bytes(const AttentionForward& asked) {
  const AttentionForward call = is_packed(asked) ? with_longest_lengths(asked) : asked;
  Choice choice;
  if (has_no_query(call.problem) || call.problem.seq_kv == 0 ||
      !choose(call, current_device(), choice))
    return state_size;
  const Tiling& tiling = choice.variant->tiling;
  return layout_of(call.problem, choice.schedule, tiling).bytes + table_bytes(call, tiling);
}

/// A call made ready: what is zeroed, launched and combined, in this order, each if at all.
struct PlannedCall {
  DeviceLimits device;
  void* zeros = nullptr;
  std::size_t zero_bytes = 0;
  PackedTables tables;    // of packed sequences, which the device must have before the launch
  AttentionForward call;  // of packed sequences that may change, without their rows
  int64_t most_q_rows = 0;
  int64_t most_kv_rows = 0;
  PreparedLaunch launch;  // without a variant where no key is seen: `combine` of no parts is all
  bool combine = false;

  bool does_nothing() const { return zero_bytes == 0 && launch.variant == nullptr && !combine; }
};

namespace {

Outcome plan(const AttentionForward& asked, void* workspace, std::size_t bytes,
             PlannedCall& planned) {
  if (Outcome bad = check(asked); !bad) return bad;
  const AttentionForward call = is_packed(asked) ? with_longest_lengths(asked) : asked;
  if (has_no_query(call.problem)) return {};
  int error = cudaSuccess;
  planned.device = current_device(&error);
  if (call.problem.seq_kv == 0) {
    planned.combine = true;
    static_cast<ForwardArguments&>(planned.launch.arguments) =
        arguments_of(call, {}, {.kv_split = 0}, nullptr);
  } else {
    Choice choice;
    if (Outcome bad = choose(call, planned.device, choice); !bad) return bad;
    const Tiling& tiling = choice.variant->tiling;
    const WorkspaceLayout layout = layout_of(call.problem, choice.schedule, tiling);
    if (Outcome bad = check_workspace(workspace, bytes, layout.bytes + table_bytes(call, tiling));
        !bad)
      return bad;
    const bool keeps_state = call.workspace_starts_zero || !reads_state(choice.schedule);
    const std::size_t first_zero = keeps_state ? state_size : 0;
    const std::size_t end_zero =
        choice.schedule.scan == scan_id<AttachScan> ? layout.partial_o : state_size;
    planned.zeros = static_cast<char*>(workspace) + first_zero;
    planned.zero_bytes = end_zero - first_zero;
    planned.combine = choice.schedule.kv_split > 1;
    planned.launch.running = running_of(call);
    planned.launch.lists = call.lists;
    if (planned.device.compute_capability != 0) {
      const ForwardArguments arguments =
          arguments_of(call, tiling, choice.schedule, static_cast<char*>(workspace));
      if (!is_packed(call))
        return prepare_launch(*choice.variant, arguments, call.ctas_per_sm, planned.device,
                              planned.launch);
      if (Outcome bad =
              make_packed_tables(call, *choice.variant, arguments, items_of_launch(call, tiling),
                                 static_cast<char*>(workspace) + layout.bytes, planned.tables);
          !bad)
        return bad;
      if (call.packed.may_change) {
        planned.call = call;
        planned.most_q_rows = packed_rows(call.packed.q, call.problem.batch);
        planned.most_kv_rows = packed_rows(call.packed.kv, call.problem.batch);
      }
      return prepare_launch(*choice.variant, planned.tables.arguments, call.ctas_per_sm,
                            planned.device, planned.launch);
    }
  }
  return planned.device.compute_capability != 0 ? Outcome{} : failed("looking for a device", error);
}

/// Copies the tables in the order of `stream`, or at once. Host memory that is not pinned has been
/// read when cudaMemcpyAsync returns, but in a capture.
Outcome upload(const PackedTables& tables, CUstream_st* stream, bool at_once) {
  if (tables.block.empty()) return {};
  cudaError_t error = cudaSuccess;
  if (at_once) {
    error = cudaMemcpy(tables.on_device, tables.block.data(), tables.block.size(),
                       cudaMemcpyHostToDevice);
  } else {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    error = cudaStreamIsCapturing(stream, &capture);
    if (error == cudaSuccess && capture != cudaStreamCaptureStatusNone)
      return {Status::launch_failed,
              "the stream is captured; allowed with packed sequences: a plan's run"};
    if (error == cudaSuccess)
      error = cudaMemcpyAsync(tables.on_device, tables.block.data(), tables.block.size(),
                              cudaMemcpyHostToDevice, stream);
  }
  return error == cudaSuccess ? Outcome{} : failed("copying the tables of packed sequences", error);
}

/// On the plan's device, which is the thread's.
Outcome run_here(const PlannedCall& planned, CUstream_st* stream) {
  if (planned.zero_bytes > 0) {
    const cudaError_t error = cudaMemsetAsync(planned.zeros, 0, planned.zero_bytes, stream);
    if (error != cudaSuccess) return failed("resetting the launch state", error);
  }
  if (planned.launch.variant != nullptr)
    if (Outcome bad = enqueue(planned.launch, stream); !bad) return bad;
  if (planned.combine)
    if (const cudaError_t error = launch_combine(planned.launch.arguments, stream);
        error != cudaSuccess)
      return failed("launching the combination of the parts", error);
  return {};
}

}  // namespace

Outcome attention_forward(const AttentionForward& call, void* workspace, std::size_t bytes,
                          CUstream_st* stream) {
  PlannedCall planned;
  if (Outcome bad = plan(call, workspace, bytes, planned); !bad) return bad;
  if (Outcome bad = upload(planned.tables, stream, false); !bad) return bad;
  return run_here(planned, stream);
}

Outcome AttentionPlan::make(const AttentionForward& call, void* workspace, std::size_t bytes) {
  auto planned = std::make_shared<PlannedCall>();
  Outcome outcome = plan(call, workspace, bytes, *planned);
  if (outcome) outcome = upload(planned->tables, nullptr, true);
  planned->tables.block = {};
  if (outcome) planned_ = std::move(planned);
  return outcome;
}

Outcome AttentionPlan::run(CUstream_st* stream) const {
  if (planned_ == nullptr || planned_->does_nothing()) return {};
  return on_device(planned_->device.number, [&] { return run_here(*planned_, stream); });
}

Outcome AttentionPlan::set_rows(const int32_t* q, const int32_t* kv, CUstream_st* stream) const {
  const auto refused = [](const std::string& what) { return Outcome{Status::bad_size, what}; };
  if (planned_ == nullptr || !planned_->call.packed.may_change)
    return refused("the plan has no packed sequences; allowed: those made with may_change");
  AttentionForward call = planned_->call;
  call.packed.q = q;
  call.packed.kv = kv;
  if (Outcome bad = check_packed(call); !bad) return bad;
  const int64_t batch = call.problem.batch;
  if (packed_rows(q, batch) > planned_->most_q_rows ||
      packed_rows(kv, batch) > planned_->most_kv_rows)
    return refused("the sequences have " + std::to_string(packed_rows(q, batch)) +
                   " rows of Q and " + std::to_string(packed_rows(kv, batch)) +
                   " of K and V; allowed by the plan: " + std::to_string(planned_->most_q_rows) +
                   " and " + std::to_string(planned_->most_kv_rows));
  // What is launched has room for as many items as the most rows can have.
  const PackedTables& made = planned_->tables;
  ForwardArguments arguments = planned_->launch.arguments;
  arguments.schedule.order.list = nullptr;
  PackedTables tables;
  return on_device(planned_->device.number, [&]() -> Outcome {
    if (Outcome bad = make_packed_tables(with_longest_lengths(call), *planned_->launch.variant,
                                         arguments, made.arguments.items, made.on_device, tables);
        !bad)
      return bad;
    return upload(tables, stream, false);
  });
}

bool runs_here(const KernelVariant& variant) {
  const int here = current_device().compute_capability;
  return here != 0 && here >= variant.from_compute_capability &&
         (variant.compute_capability == 0 || variant.compute_capability == here);
}

int resident_ctas_per_sm(const KernelVariant& variant) {
  int ctas = 0;
  // The most, as launches do: a smaller value could fail one of another thread.
  if (cudaFuncSetAttribute(variant.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           current_device().shared_bytes) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, variant.function, variant.threads(),
                                                    std::size_t(variant.shared_bytes)) !=
          cudaSuccess)
    return 0;
  return ctas;
}

}  // namespace sawtooth::kernels
