#include "kernels/attention/launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>

#include <cuda_runtime_api.h>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/decode.hpp"
#if defined(SAWTOOTH_HAVE_TMA)
#include "kernels/tma/tensor_map.hpp"
#endif

namespace sawtooth::kernels {
namespace {

/// A CTA takes so many bytes that no more than `ctas` of them fit an SM (0: the kernel's own need).
int shared_bytes_for(const KernelVariant& variant, int needed, int ctas,
                     const DeviceLimits& device) {
  if (ctas <= 0 || variant.fills_sm) return needed;
  // One CTA more than wanted must not fit.
  const int crowded_out = device.shared_bytes_per_sm / (ctas + 1) - device.reserved_shared_bytes;
  return std::max(needed, std::min(device.shared_bytes, crowded_out + 1));
}

std::string name_of(const KernelVariant& variant) {
  return std::string("the ") + variant.family + " kernel for head_dim " +
         variant.head_dims().text() + " with tile " + std::to_string(variant.tiling.q_rows) + "x" +
         std::to_string(variant.tiling.kv_rows);
}

/// Allows the kernel all the shared memory that a CTA of the device can have: the same value from
/// every thread, and so no race.
cudaError_t allow_shared_memory(const KernelVariant& variant, const DeviceLimits& device) {
  const MaskedKernel* masked = masked_kernel(variant);
  for (const void* function :
       {variant.function, variant.running_function, variant.packed_function,
        variant.listed_function, variant.ordered_function, variant.separate_function,
        variant.dq_kernel.function, masked != nullptr ? masked->function : nullptr}) {
    if (function == nullptr) continue;
    const cudaError_t error = cudaFuncSetAttribute(
        function, cudaFuncAttributeMaxDynamicSharedMemorySize, device.shared_bytes);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

/// Forward kernels are numbered first, then those of the backward pass, of decode and of cascades.
std::size_t number_of(const KernelVariant& variant) {
  std::size_t before = 0;
  for (const std::span<const KernelVariant> variants :
       {kernel_variants(), backward_variants(), decode_variants(), cascade_variants()}) {
    if (&variant >= variants.data() && &variant < variants.data() + variants.size())
      return before + std::size_t(&variant - variants.data());
    before += variants.size();
  }
  return before;
}

/// The same, once a kernel and device.
cudaError_t allow_shared_memory_once(const KernelVariant& variant, const DeviceLimits& device) {
  constexpr std::size_t most_variants = 256;
  static std::array<std::atomic<uint64_t>, most_variants> allowed;  // a bit a device
  const std::size_t index = number_of(variant);
  const bool remembered = index < most_variants && device.number < 64;
  const uint64_t bit = uint64_t{1} << (device.number % 64);
  if (remembered && (allowed[index].load(std::memory_order_relaxed) & bit) != 0) return cudaSuccess;
  const cudaError_t error = allow_shared_memory(variant, device);
  if (remembered && error == cudaSuccess) allowed[index].fetch_or(bit, std::memory_order_relaxed);
  return error;
}

/// The kernel takes so many maps of Q, K, V and O.
std::size_t number_of_maps(const KernelVariant& variant) {
  if (!variant.loads_by_copy_engine()) return 0;
  return variant.stores_by_copy_engine() ? 4 : 3;
}

Outcome make_maps(const KernelVariant& variant, const ForwardArguments& arguments,
                  std::array<CUtensorMap, 4>& maps) {
  const auto tensors =
      mapped_tensors(variant, arguments, {arguments.o, arguments.o_strides, variant.o_box});
  for (std::size_t i = 0; i < number_of_maps(variant); ++i)
    if (Outcome bad = make_map(variant, arguments.problem, tensors[i], maps[i]); !bad) return bad;
  return {};
}

cudaError_t try_enqueue(const KernelVariant& variant, const void* function, unsigned ctas,
                        std::size_t shared_bytes, void** parameters, CUstream_st* stream) {
  // PTX ISA, "griddepcontrol"; kernels/hopper/instructions.cuh.
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.attrs = &early;
  config.numAttrs = variant.begins_early ? 1 : 0;
  config.gridDim = dim3(ctas);
  config.blockDim = dim3(unsigned(variant.threads_of(function)));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelExC(&config, function, parameters);
}

}  // namespace

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

Outcome on_device(int number, const std::function<Outcome()>& run) {
  int here = 0;
  cudaError_t error = cudaGetDevice(&here);
  if (error != cudaSuccess) return failed("looking for the current device", error);
  if (here == number) return run();
  error = cudaSetDevice(number);
  if (error != cudaSuccess) return failed("making the plan's device current", error);
  Outcome outcome = run();
  error = cudaSetDevice(here);
  if (outcome && error != cudaSuccess) return failed("going back to the current device", error);
  return outcome;
}

Outcome make_map([[maybe_unused]] const KernelVariant& variant, const Problem& problem,
                 const MappedTensor& tensor, CUtensorMap& map) {
#if defined(SAWTOOTH_HAVE_TMA)
  const TensorExtent extent{problem.batch, tensor.heads, tensor.rows, tensor.columns};
  try {
    map = make_tensor_map(tensor.data, problem.dtype, extent, tensor.strides, tensor.box);
  } catch (const std::runtime_error& refused) {
    return {Status::launch_failed, refused.what()};
  }
  return {};
#else
  (void)problem, (void)tensor, (void)map;
  return {Status::unsupported_tiling, name_of(variant) + " is not in this build"};
#endif
}

Outcome prepare_kernel(const KernelVariant& variant, int needed, int ctas_per_sm,
                       const DeviceLimits& device, std::size_t& shared_bytes) {
  const cudaError_t error = allow_shared_memory_once(variant, device);
  if (error != cudaSuccess) return failed("preparing " + name_of(variant), error);
  shared_bytes = std::size_t(shared_bytes_for(variant, needed, ctas_per_sm, device));
  return {};
}

unsigned ctas_of(const Schedule& schedule, int64_t items) {
  const bool grid = schedule.launch == launch_id<GridLaunch>;
  return unsigned(grid ? items : std::min(items, schedule.workers));
}

Outcome prepare_launch(const KernelVariant& variant, const ForwardArguments& arguments,
                       int ctas_per_sm, const DeviceLimits& device, PreparedLaunch& launch) {
  const int needed = kernel_for(variant, arguments.problem).shared_bytes;
  if (Outcome bad = prepare_kernel(variant, needed, ctas_per_sm, device, launch.shared_bytes); !bad)
    return bad;
  launch.variant = &variant;
  launch.ctas = ctas_of(arguments.schedule,
                        item_count(arguments.problem, variant.tiling, arguments.schedule));
  static_cast<ForwardArguments&>(launch.arguments) = arguments;
  return make_maps(variant, arguments, launch.maps);
}

Outcome prepare_launch(const KernelVariant& variant, const PackedArguments& arguments,
                       int ctas_per_sm, const DeviceLimits& device, PreparedLaunch& launch) {
  launch.variant = &variant;
  launch.ctas = ctas_of(arguments.schedule, arguments.items);
  launch.arguments = arguments;
  return prepare_kernel(variant, variant.packed_shared_bytes, ctas_per_sm, device,
                        launch.shared_bytes);
}

Outcome enqueue_kernel(const KernelVariant& variant, const void* function, unsigned ctas,
                       std::size_t shared_bytes, void** parameters, CUstream_st* stream) {
  cudaError_t error = try_enqueue(variant, function, ctas, shared_bytes, parameters, stream);
  // A reset of the device forgets what kernels were allowed.
  if (error == cudaErrorInvalidValue &&
      allow_shared_memory(variant, current_device()) == cudaSuccess)
    error = try_enqueue(variant, function, ctas, shared_bytes, parameters, stream);
  if (error != cudaSuccess) return failed("launching " + name_of(variant), error);
  return {};
}

Outcome enqueue(const PreparedLaunch& launch, CUstream_st* stream) {
  const auto address = [](const auto& parameter) {
    return const_cast<void*>(static_cast<const void*>(&parameter));
  };
  std::array<void*, 6> parameters{};
  std::size_t count = 0;
  const std::size_t maps = launch.packed() ? 0 : number_of_maps(*launch.variant);
  for (; count < maps; ++count) parameters[count] = address(launch.maps[count]);
  ListedArguments listed;
  if (launch.arguments.problem.mask.kind == MaskKind::listed) {
    static_cast<ForwardArguments&>(listed) = launch.arguments;
    listed.lists = launch.lists;
    parameters[count++] = address(listed);
  } else {
    parameters[count++] = address(launch.arguments);
    parameters[count++] = address(launch.running);
  }
  if (launch.packed())
    return enqueue_kernel(*launch.variant, launch.variant->packed_function, launch.ctas,
                          launch.shared_bytes, parameters.data(), stream);
  const void* const function = launch.running.o != nullptr
                                   ? launch.variant->running_function
                                   : kernel_for(*launch.variant, launch.arguments.problem).function;
  return enqueue_kernel(*launch.variant, function, launch.ctas, launch.shared_bytes,
                        parameters.data(), stream);
}

namespace {

constexpr int remembered_devices = 64;

cudaError_t read_limits(int device, DeviceLimits& limits) {
  int major = 0, minor = 0;
  for (const auto& [value, attribute] :
       {std::pair{&major, cudaDevAttrComputeCapabilityMajor},
        std::pair{&minor, cudaDevAttrComputeCapabilityMinor},
        std::pair{&limits.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin},
        std::pair{&limits.sms, cudaDevAttrMultiProcessorCount},
        std::pair{&limits.shared_bytes_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        std::pair{&limits.reserved_shared_bytes, cudaDevAttrReservedSharedMemoryPerBlock}})
    if (const cudaError_t error = cudaDeviceGetAttribute(value, attribute, device);
        error != cudaSuccess)
      return error;
  limits.compute_capability = 10 * major + minor;
  limits.number = device;
  return cudaSuccess;
}

}  // namespace

DeviceLimits current_device(int* error) {
  static std::array<DeviceLimits, remembered_devices> known;
  static std::array<std::atomic<bool>, remembered_devices> is_known;
  static std::mutex writing;
  int device = 0;
  DeviceLimits limits;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess && device < remembered_devices &&
      is_known[size_t(device)].load(std::memory_order_acquire))
    return known[size_t(device)];
  if (status == cudaSuccess) status = read_limits(device, limits);
  if (status != cudaSuccess) {
    if (error != nullptr) *error = status;
    return {};
  }
  if (device < remembered_devices) {
    const std::scoped_lock lock(writing);
    if (!is_known[size_t(device)]) known[size_t(device)] = limits;
    is_known[size_t(device)].store(true, std::memory_order_release);
  }
  return limits;
}

}  // namespace sawtooth::kernels
