#include "kernels/attention/attention.hpp"

#include <cmath>
#include <numbers>

#include <cuda_runtime_api.h>

#include "kernels/mma/arguments.hpp"
#include "kernels/mma/combine.hpp"
#include "kernels/mma/launch.hpp"

namespace sawtooth::kernels {
namespace {

constexpr std::size_t workspace_alignment = 16;

// Of pieces of the last wave (kernels/hopper/pieces.cuh).
constexpr int64_t most_q_rows = 256;  // of a tile: two CTAs that work together
constexpr int64_t warp_rows = 16;     // of a wgmma accumulator

constexpr int64_t fewest_kv_rows = 16;  // of a K/V tile: an mma's depth

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

/// Byte offsets inside the workspace: launch state first, because it is zeroed before a launch.
struct WorkspaceLayout {
  std::size_t attach = 0;
  std::size_t piece_arrivals = 0;
  std::size_t state_bytes = 0;
  std::size_t partial_o = 0;
  std::size_t partial_lse = 0;
  std::size_t pieces = 0;
  std::size_t bytes = 0;
};

/// Numbers that the pieces of the last wave can have; 0 where it is not cut.
int64_t most_pieces(const Schedule& schedule) {
  return cuts_last_wave(schedule) ? 2 * schedule.workers : 0;
}

WorkspaceLayout layout_of(const AttentionForward& call) {
  const Problem& problem = call.problem;
  WorkspaceLayout layout;
  layout.attach = workspace_alignment;  // after the ticket
  layout.piece_arrivals =
      layout.attach + aligned(std::size_t(problem.batch * problem.kv_heads) * sizeof(int));
  // For each 16 rows (a warp) of every piece, of the largest tile where none is named.
  const int64_t piece_rows =
      most_pieces(call.schedule) * (call.tiling.q_rows > 0 ? call.tiling.q_rows : most_q_rows);
  layout.state_bytes =
      layout.piece_arrivals + aligned(std::size_t(piece_rows / warp_rows) * sizeof(unsigned));
  layout.partial_o = layout.state_bytes;
  const bool split = call.schedule.kv_split > 1;
  const std::size_t part_rows =
      split ? std::size_t(problem.batch * problem.heads * call.schedule.kv_split * problem.seq_q)
            : 0;
  layout.partial_lse =
      layout.partial_o + aligned(part_rows * std::size_t(problem.head_dim) * sizeof(float));
  layout.pieces = layout.partial_lse + aligned(part_rows * sizeof(float));
  layout.bytes =
      layout.pieces +
      std::size_t(piece_rows * (problem.head_dim + piece_floats_beside_o)) * sizeof(float);
  return layout;
}

/// What createpolicy.fractional.L2::evict_... with fraction 1 yields: ptxas folds it to these
/// constants for sm_80, sm_90 and sm_120 alike.
constexpr uint64_t policy_of(Eviction eviction) {
  switch (eviction) {
    case Eviction::first:
      return 0x12F0000000000000ull;
    case Eviction::last:
      return 0x14F0000000000000ull;
    case Eviction::normal:
      break;
  }
  return 0x10F0000000000000ull;
}

/// Whether CTAs read the ticket or the attach words.
bool reads_state(const Schedule& schedule) {
  return schedule.launch == launch_id<DynamicLaunch> || schedule.scan == scan_id<AttachScan> ||
         cuts_last_wave(schedule);
}

/// Whether the state is zero without a memset, which costs small problems some per cent.
bool finds_zeros(const AttentionForward& call, const KernelVariant& variant) {
  return call.workspace_starts_zero && variant.resets_state &&
         call.schedule.scan != scan_id<AttachScan>;
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

Strides or_contiguous(const Strides& strides, int64_t heads, int64_t length, int64_t head_dim) {
  return strides == Strides{} ? contiguous_strides(heads, length, head_dim) : strides;
}

/// Of the current device; zeros without one.
DeviceLimits device_limits() {
  int device = 0, major = 0, minor = 0, shared_bytes = 0, sms = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return {};
  for (const auto& [value, attribute] :
       {std::pair{&major, cudaDevAttrComputeCapabilityMajor},
        std::pair{&minor, cudaDevAttrComputeCapabilityMinor},
        std::pair{&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin},
        std::pair{&sms, cudaDevAttrMultiProcessorCount}})
    if (cudaDeviceGetAttribute(value, attribute, device) != cudaSuccess) return {};
  return {10 * major + minor, shared_bytes, sms};
}

/// "9.0", or "9.0 or later".
std::string needed_device(const KernelVariant& variant) {
  const bool exact = variant.compute_capability != 0;
  const int version = exact ? variant.compute_capability : variant.from_compute_capability;
  return std::to_string(version / 10) + "." + std::to_string(version % 10) +
         (exact ? "" : " or later");
}

}  // namespace

ForwardArguments arguments_of(const AttentionForward& call, char* workspace) {
  const Problem& problem = call.problem;
  const WorkspaceLayout layout = layout_of(call);
  const int64_t head_dim = problem.head_dim;
  const float scale = call.scale > 0 ? call.scale : 1 / std::sqrt(float(head_dim));
  const bool split = call.schedule.kv_split > 1;
  return {.problem = problem,
          .schedule = known_to_all(call.schedule, problem),
          .q = call.q,
          .k = call.k,
          .v = call.v,
          .o = call.o,
          .lse = call.lse,
          .q_strides = or_contiguous(call.q_strides, problem.heads, problem.seq_q, head_dim),
          .k_strides = or_contiguous(call.k_strides, problem.kv_heads, problem.seq_kv, head_dim),
          .v_strides = or_contiguous(call.v_strides, problem.kv_heads, problem.seq_kv, head_dim),
          .o_strides = or_contiguous(call.o_strides, problem.heads, problem.seq_q, head_dim),
          .scale_log2 = scale * std::numbers::log2e_v<float>,
          .policies = {policy_of(call.hints.q), policy_of(call.hints.k), policy_of(call.hints.v)},
          .partial_o = split ? reinterpret_cast<float*>(workspace + layout.partial_o) : nullptr,
          .partial_lse = split ? reinterpret_cast<float*>(workspace + layout.partial_lse) : nullptr,
          .pieces = reinterpret_cast<float*>(workspace + layout.pieces),
          .ticket = reinterpret_cast<unsigned long long*>(workspace),
          .attach_tiles = reinterpret_cast<int*>(workspace + layout.attach),
          .piece_arrivals = reinterpret_cast<unsigned*>(workspace + layout.piece_arrivals),
          .trace = call.trace};
}

std::size_t workspace_bytes(const AttentionForward& call) {
  return layout_of(call).bytes;
}

Outcome attention_forward(const AttentionForward& call, void* workspace, std::size_t bytes,
                          CUstream_st* stream) {
  if (Outcome bad = check(call); !bad) return bad;
  const WorkspaceLayout layout = layout_of(call);
  if (workspace == nullptr) return {Status::null_pointer, "workspace is a null pointer"};
  if (reinterpret_cast<uintptr_t>(workspace) % workspace_alignment != 0)
    return {Status::misaligned, "workspace is not aligned to 16 bytes"};
  if (bytes < layout.bytes)
    return {Status::workspace_too_small, "workspace has " + std::to_string(bytes) +
                                             " bytes; needed: " + std::to_string(layout.bytes)};

  const bool any_tiling = call.tiling.q_rows == 0 && call.tiling.kv_rows == 0;
  const KernelVariant& variant = variant_for(call, any_tiling ? device_limits() : DeviceLimits{});
  if (variant.needs_device() && !runs_here(variant))
    return {Status::no_device, std::string("the ") + variant.family +
                                   " kernels need a device of compute capability " +
                                   needed_device(variant)};
  if (Outcome bad = check_pieces(call.schedule, variant); !bad) return bad;
  ForwardArguments arguments = arguments_of(call, static_cast<char*>(workspace));
  cudaError_t error = cudaSuccess;
  if (reads_state(call.schedule) && !finds_zeros(call, variant)) {
    error = cudaMemsetAsync(workspace, 0, layout.state_bytes, stream);
    if (error != cudaSuccess) return failed("resetting the launch state", error);
  }
  if (variant.launch != nullptr) {
    if (std::string wrong = variant.launch(arguments, stream); !wrong.empty())
      return {Status::launch_failed, std::move(wrong)};
  } else {
    const bool grid = call.schedule.launch == launch_id<GridLaunch>;
    const int64_t ctas =
        grid ? item_count(call.problem, variant.tiling, call.schedule) : call.schedule.workers;
    if (Outcome bad = launch_forward(variant, arguments, ctas, call.ctas_per_sm, stream); !bad)
      return bad;
  }
  if (call.schedule.kv_split > 1)
    if (error = launch_combine(arguments, stream); error != cudaSuccess)
      return failed("launching the combination of the parts", error);
  return {};
}

bool runs_here(const KernelVariant& variant) {
  const int here = device_limits().compute_capability;
  return here != 0 && here >= variant.from_compute_capability &&
         (variant.compute_capability == 0 || variant.compute_capability == here);
}

int resident_ctas_per_sm(const KernelVariant& variant) {
  int ctas = 0;
  // The most, as launches do: a smaller value could fail one of another thread.
  if (cudaFuncSetAttribute(variant.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           device_limits().shared_bytes) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, variant.function, variant.threads(),
                                                    std::size_t(variant.shared_bytes)) !=
          cudaSuccess)
    return 0;
  return ctas;
}

}  // namespace sawtooth::kernels
