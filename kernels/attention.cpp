#include "kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <cuda_runtime_api.h>

#include "kernels/mma/arguments.hpp"
#include "kernels/mma/combine.hpp"

namespace sawtooth::kernels {
namespace {

constexpr std::size_t workspace_alignment = 16;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
}

/// Byte offsets inside the workspace: launch state first, because it is zeroed before a launch.
struct WorkspaceLayout {
  std::size_t attach = 0;
  std::size_t state_bytes = 0;
  std::size_t partial_o = 0;
  std::size_t partial_lse = 0;
  std::size_t bytes = 0;
};

WorkspaceLayout layout_of(const AttentionForward& call) {
  const Problem& problem = call.problem;
  WorkspaceLayout layout;
  layout.attach = workspace_alignment;  // after the ticket
  layout.state_bytes =
      layout.attach + aligned(std::size_t(problem.batch * problem.kv_heads) * sizeof(int));
  layout.partial_o = layout.state_bytes;
  const bool split = call.schedule.kv_split > 1;
  const std::size_t part_rows =
      split ? std::size_t(problem.batch * problem.heads * call.schedule.kv_split * problem.seq_q)
            : 0;
  layout.partial_lse =
      layout.partial_o + aligned(part_rows * std::size_t(problem.head_dim) * sizeof(float));
  layout.bytes = layout.partial_lse + aligned(part_rows * sizeof(float));
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
  return schedule.launch == launch_id<DynamicLaunch> || schedule.scan == scan_id<AttachScan>;
}

Strides or_contiguous(const Strides& strides, int64_t heads, int64_t length, int64_t head_dim) {
  return strides == Strides{} ? contiguous_strides(heads, length, head_dim) : strides;
}

Outcome failed(const char* what, cudaError_t error) {
  const bool no_device = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  return {no_device ? Status::no_device : Status::launch_failed,
          std::string(what) + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error)};
}

/// Shared memory to ask for, so that no more than `ctas` fit an SM (0: the kernel's own need).
cudaError_t shared_bytes_for(const KernelVariant& variant, int ctas, int& bytes) {
  bytes = variant.shared_bytes;
  if (ctas <= 0) return cudaSuccess;
  int device = 0, per_sm = 0, per_cta = 0, reserved = 0;
  for (const auto& [value, attribute] :
       {std::pair{&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        std::pair{&per_cta, cudaDevAttrMaxSharedMemoryPerBlockOptin},
        std::pair{&reserved, cudaDevAttrReservedSharedMemoryPerBlock}}) {
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(value, attribute, device);
    if (error != cudaSuccess) return error;
  }
  // One CTA more than wanted must not fit.
  const int crowded_out = per_sm / (ctas + 1) - reserved + 1;
  bytes = std::max(bytes, std::min(per_cta, crowded_out));
  return cudaSuccess;
}

ForwardArguments arguments_of(const AttentionForward& call, char* workspace) {
  const Problem& problem = call.problem;
  const WorkspaceLayout layout = layout_of(call);
  const int64_t head_dim = problem.head_dim;
  const float scale = call.scale > 0 ? call.scale : 1 / std::sqrt(float(head_dim));
  const bool split = call.schedule.kv_split > 1;
  return {.problem = problem,
          .schedule = call.schedule,
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
          .ticket = reinterpret_cast<unsigned long long*>(workspace),
          .attach_tiles = reinterpret_cast<int*>(workspace + layout.attach),
          .trace = call.trace};
}

/// Enqueues a kernel whose only parameter is `arguments`.
Outcome launch_plain(const AttentionForward& call, const KernelVariant& variant,
                     ForwardArguments& arguments, cudaStream_t stream) {
  int shared_bytes = 0;
  cudaError_t error = shared_bytes_for(variant, call.ctas_per_sm, shared_bytes);
  if (error != cudaSuccess) return failed("reading the device's limits", error);
  error = cudaFuncSetAttribute(variant.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               shared_bytes);
  if (error != cudaSuccess)
    return failed(
        ("the kernel for head_dim " + std::to_string(variant.head_dim) + " with tile " +
         std::to_string(variant.tiling.q_rows) + "x" + std::to_string(variant.tiling.kv_rows) +
         " needs " + std::to_string(shared_bytes) +
         " bytes of shared memory, more than the device " + "has; choose a smaller tile")
            .c_str(),
        error);
  const bool grid = call.schedule.launch == launch_id<GridLaunch>;
  const int64_t ctas =
      grid ? item_count(call.problem, variant.tiling, call.schedule) : call.schedule.workers;
  void* parameters[] = {&arguments};
  error =
      cudaLaunchKernel(variant.function, dim3(unsigned(ctas)), dim3(unsigned(variant.threads())),
                       parameters, std::size_t(shared_bytes), stream);
  if (error != cudaSuccess) return failed("launching the kernel", error);
  return {};
}

}  // namespace

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

  const KernelVariant& variant =
      *find_variant(call.problem.head_dim, call.problem.dtype, call.tiling, call.family);
  ForwardArguments arguments = arguments_of(call, static_cast<char*>(workspace));
  cudaError_t error = cudaSuccess;
  if (reads_state(call.schedule)) {  // a memset costs small problems some per cent
    error = cudaMemsetAsync(workspace, 0, layout.state_bytes, stream);
    if (error != cudaSuccess) return failed("resetting the launch state", error);
  }
  if (variant.launch != nullptr) {
    if (!runs_here(variant))
      return {Status::no_device, std::string("the ") + variant.family +
                                     " kernels need a device of compute capability " +
                                     std::to_string(variant.compute_capability / 10) + "." +
                                     std::to_string(variant.compute_capability % 10)};
    if (std::string wrong = variant.launch(arguments, stream); !wrong.empty())
      return {Status::launch_failed, std::move(wrong)};
  } else if (Outcome bad = launch_plain(call, variant, arguments, stream); !bad) {
    return bad;
  }
  if (call.schedule.kv_split > 1)
    if (error = launch_combine(arguments, stream); error != cudaSuccess)
      return failed("launching the combination of the parts", error);
  return {};
}

bool runs_here(const KernelVariant& variant) {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
    return false;
  return variant.compute_capability == 0 || variant.compute_capability == 10 * major + minor;
}

int resident_ctas_per_sm(const KernelVariant& variant) {
  int ctas = 0;
  if (cudaFuncSetAttribute(variant.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           variant.shared_bytes) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, variant.function, variant.threads(),
                                                    std::size_t(variant.shared_bytes)) !=
          cudaSuccess)
    return 0;
  return ctas;
}

}  // namespace sawtooth::kernels
