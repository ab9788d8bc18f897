#include "kernels/mma/launch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include <cuda_runtime_api.h>
#if defined(SAWTOOTH_HAVE_TMA)
#include "kernels/tma/tensor_map.hpp"
#endif

namespace sawtooth::kernels {
namespace {

struct SharedBytes {
  int asked = 0;  // so that no more than the wanted CTAs fit an SM
  int most = 0;   // that a CTA of this device can have
};

/// For at most `ctas` CTAs on an SM (0: the kernel's own need).
cudaError_t shared_bytes_for(const KernelVariant& variant, int ctas, SharedBytes& bytes) {
  int device = 0, per_sm = 0, per_cta = 0, reserved = 0;
  for (const auto& [value, attribute] :
       {std::pair{&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        std::pair{&per_cta, cudaDevAttrMaxSharedMemoryPerBlockOptin},
        std::pair{&reserved, cudaDevAttrReservedSharedMemoryPerBlock}}) {
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(value, attribute, device);
    if (error != cudaSuccess) return error;
  }
  bytes = {variant.shared_bytes, per_cta};
  if (ctas <= 0) return cudaSuccess;
  // One CTA more than wanted must not fit.
  const int crowded_out = per_sm / (ctas + 1) - reserved + 1;
  bytes.asked = std::max(bytes.asked, std::min(per_cta, crowded_out));
  return cudaSuccess;
}

std::string name_of(const KernelVariant& variant) {
  return std::string("the ") + variant.family + " kernel for head_dim " +
         std::to_string(variant.head_dim) + " with tile " + std::to_string(variant.tiling.q_rows) +
         "x" + std::to_string(variant.tiling.kv_rows);
}

#if defined(SAWTOOTH_HAVE_TMA)
/// Maps of Q, K and V, boxes of a tile's rows. Throws std::runtime_error when the driver refuses.
std::array<CUtensorMap, 3> tensor_maps(const KernelVariant& variant,
                                       const ForwardArguments& arguments) {
  const Problem& problem = arguments.problem;
  const TensorExtent q{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const TensorExtent kv{problem.batch, problem.kv_heads, problem.seq_kv, problem.head_dim};
  const int panel = variant.panel_columns;
  const int panels = variant.head_dim / panel;
  const BoxExtent q_box{int(variant.tiling.q_rows), panels, panel};
  const BoxExtent kv_box{int(variant.tiling.kv_rows), panels, panel};
  return {make_tensor_map(arguments.q, problem.dtype, q, arguments.q_strides, q_box),
          make_tensor_map(arguments.k, problem.dtype, kv, arguments.k_strides, kv_box),
          make_tensor_map(arguments.v, problem.dtype, kv, arguments.v_strides, kv_box)};
}
#endif

}  // namespace

const KernelVariant& variant_for(const AttentionForward& call, const DeviceLimits& device) {
  const Problem& problem = call.problem;
  const KernelVariant* first =
      find_variant(problem.head_dim, problem.dtype, call.tiling, call.family);
  if (call.tiling.q_rows != 0 || call.tiling.kv_rows != 0) return *first;
  const KernelVariant* first_that_runs = nullptr;
  const KernelVariant* best = nullptr;  // of those made for this device alone
  double shortest_us = 0;
  for (const KernelVariant& variant : kernel_variants()) {
    if (variant.head_dim != problem.head_dim || variant.dtype != problem.dtype ||
        (!call.family.empty() && call.family != variant.family))
      continue;
    if (variant.compute_capability != 0) {
      if (variant.compute_capability != device.compute_capability) continue;
      // Without a known cost: the only tile of a head dim, or one of two CTAs, which never wins.
      const double time_us =
          variant.cost.measured()
              ? estimated_us(problem, variant.tiling, variant.cost, max_of(1, device.sms))
              : std::numeric_limits<double>::infinity();
      if (best != nullptr && time_us >= shortest_us) continue;
      best = &variant;
      shortest_us = time_us;
    } else if (first_that_runs == nullptr &&
               device.compute_capability >= variant.from_compute_capability &&
               variant.shared_bytes <= device.shared_bytes) {
      first_that_runs = &variant;
    }
  }
  if (best != nullptr) return *best;
  return first_that_runs != nullptr ? *first_that_runs : *first;
}

Outcome failed(const std::string& what, int cuda_error) {
  const auto error = static_cast<cudaError_t>(cuda_error);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction)
    return {Status::no_device, what +
                                   ": this build has no code for the device; build with its "
                                   "architecture in CMAKE_CUDA_ARCHITECTURES"};
  const bool no_device = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  return {no_device ? Status::no_device : Status::launch_failed,
          what + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error)};
}

Outcome launch_forward(const KernelVariant& variant, ForwardArguments& arguments, int64_t ctas,
                       int ctas_per_sm, CUstream_st* stream) {
  SharedBytes shared;
  cudaError_t error = shared_bytes_for(variant, ctas_per_sm, shared);
  if (error != cudaSuccess) return failed("reading the device's limits", error);
  if (shared.asked > shared.most)
    return {Status::launch_failed, name_of(variant) + " needs " + std::to_string(shared.asked) +
                                       " bytes of shared memory, the device has " +
                                       std::to_string(shared.most) + "; choose a smaller tile"};
  // Always the most: threads that ask for different sizes set the same value.
  error = cudaFuncSetAttribute(variant.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               shared.most);
  if (error != cudaSuccess) return failed("preparing " + name_of(variant), error);
  const auto launch = [&](void** parameters) -> Outcome {
    error =
        cudaLaunchKernel(variant.function, dim3(unsigned(ctas)), dim3(unsigned(variant.threads())),
                         parameters, std::size_t(shared.asked), stream);
    if (error != cudaSuccess) return failed("launching " + name_of(variant), error);
    return {};
  };
  if (variant.panel_columns == 0) {
    void* parameters[] = {&arguments};
    return launch(parameters);
  }
#if defined(SAWTOOTH_HAVE_TMA)
  try {
    std::array<CUtensorMap, 3> maps = tensor_maps(variant, arguments);
    void* parameters[] = {&maps[0], &maps[1], &maps[2], &arguments};
    return launch(parameters);
  } catch (const std::runtime_error& refused) {
    return {Status::launch_failed, refused.what()};
  }
#else
  return {Status::unsupported_tiling, "this build has no kernels that load by the copy engine"};
#endif
}

}  // namespace sawtooth::kernels
