// libcupti, libnvperf_host and libcuda, opened at run time, so that a program starts where they
// are absent and can say why counters are off.
//
// libcupti opens libnvperf_host.so by its bare name, which an executable's RUNPATH does not help;
// so it is opened here first, by full path and with global symbols.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

/// A zeroed CUPTI params struct of `type` with structSize set. The size is the one of the last
/// field in these headers, a macro of CUPTI's own for every struct.
#define SAWTOOTH_CUPTI_PARAMS(type) ::sawtooth::cupti::zeroed_params<type>(type##_STRUCT_SIZE)

namespace sawtooth::cupti {

// Functions of CUPTI by the names that this folder gives them: those that need neither a GPU nor a
// driver, those of the range profiler, and callbacks.
#define SAWTOOTH_CUPTI_FUNCTIONS(F)                                              \
  F(cuptiGetVersion, get_version)                                                \
  F(cuptiProfilerHostGetSupportedChips, host_chips)                              \
  F(cuptiProfilerHostInitialize, host_initialize)                                \
  F(cuptiProfilerHostDeinitialize, host_deinitialize)                            \
  F(cuptiProfilerHostGetBaseMetrics, host_base_metrics)                          \
  F(cuptiProfilerHostGetMetricProperties, host_metric_properties)                \
  F(cuptiProfilerHostConfigAddMetrics, host_add_metrics)                         \
  F(cuptiProfilerHostGetConfigImageSize, host_config_image_size)                 \
  F(cuptiProfilerHostGetConfigImage, host_config_image)                          \
  F(cuptiProfilerHostGetNumOfPasses, host_passes)                                \
  F(cuptiProfilerHostEvaluateToGpuValues, host_evaluate)                         \
  F(cuptiProfilerInitialize, initialize)                                         \
  F(cuptiProfilerDeInitialize, deinitialize)                                     \
  F(cuptiProfilerDeviceSupported, device_supported)                              \
  F(cuptiProfilerGetCounterAvailability, counter_availability)                   \
  F(cuptiDeviceGetChipName, device_chip_name)                                    \
  F(cuptiRangeProfilerEnable, range_enable)                                      \
  F(cuptiRangeProfilerDisable, range_disable)                                    \
  F(cuptiRangeProfilerSetConfig, range_set_config)                               \
  F(cuptiRangeProfilerGetCounterDataSize, range_counter_data_size)               \
  F(cuptiRangeProfilerCounterDataImageInitialize, range_counter_data_initialize) \
  F(cuptiRangeProfilerStart, range_start)                                        \
  F(cuptiRangeProfilerStop, range_stop)                                          \
  F(cuptiRangeProfilerPushRange, range_push)                                     \
  F(cuptiRangeProfilerPopRange, range_pop)                                       \
  F(cuptiRangeProfilerDecodeData, range_decode)                                  \
  F(cuptiRangeProfilerGetCounterDataInfo, range_counter_data_info)               \
  F(cuptiRangeProfilerCounterDataGetRangeInfo, range_info)                       \
  F(cuptiSubscribe, subscribe)                                                   \
  F(cuptiEnableCallback, enable_callback)

struct CuptiLibrary {
  std::string folder;  // where libcupti was found; empty: by the loader's own search
#define SAWTOOTH_MEMBER(function, name) decltype(&function) name = nullptr;
  SAWTOOTH_CUPTI_FUNCTIONS(SAWTOOTH_MEMBER)
#undef SAWTOOTH_MEMBER
};

/// Takes a libcupti that the process has already (PyTorch brings one), else searches
/// SAWTOOTH_CUPTI_DIR, CUDA_HOME, CUDA_PATH, the toolkit of the build, /usr/local/cuda, then the
/// loader's own places. The libraries stay loaded until the program ends.
/// Throws CounterError (no_cupti, no_nvperf_host).
CuptiLibrary open_cupti();

// The driver's functions that this folder calls. Of those whose name is a macro of cuda.h the
// version is meant that the types are of.
#define SAWTOOTH_DRIVER_FUNCTIONS(F)                                                         \
  F("cuInit", decltype(&cuInit), init)                                                       \
  F("cuDeviceGet", decltype(&cuDeviceGet), device_get)                                       \
  F("cuDevicePrimaryCtxRetain", CUresult (*)(CUcontext*, CUdevice), primary_retain)          \
  F("cuDevicePrimaryCtxRelease_v2", CUresult (*)(CUdevice), primary_release)                 \
  F("cuCtxGetCurrent", decltype(&cuCtxGetCurrent), context_current)                          \
  F("cuCtxGetDevice", decltype(&cuCtxGetDevice), context_device)                             \
  F("cuCtxSetCurrent", decltype(&cuCtxSetCurrent), context_set_current)                      \
  F("cuCtxSynchronize", decltype(&cuCtxSynchronize), synchronize)                            \
  F("cuCtxResetPersistingL2Cache", decltype(&cuCtxResetPersistingL2Cache), reset_persisting) \
  F("cuGetErrorName", decltype(&cuGetErrorName), error_name)                                 \
  F("cuDeviceGetAttribute", decltype(&cuDeviceGetAttribute), device_attribute)               \
  F("cuMemAlloc_v2", CUresult (*)(CUdeviceptr*, size_t), allocate)                           \
  F("cuModuleLoadData", decltype(&cuModuleLoadData), load_module)                            \
  F("cuModuleGetFunction", decltype(&cuModuleGetFunction), module_function)                  \
  F("cuFuncGetAttribute", decltype(&cuFuncGetAttribute), function_attribute)                 \
  F("cuKernelGetFunction", decltype(&cuKernelGetFunction), kernel_function)                  \
  F("cuLaunchKernel", decltype(&cuLaunchKernel), launch_kernel)                              \
  F("cuStreamIsCapturing", decltype(&cuStreamIsCapturing), stream_is_capturing)              \
  F("cuThreadExchangeStreamCaptureMode", decltype(&cuThreadExchangeStreamCaptureMode),       \
    exchange_capture_mode)                                                                   \
  F("cuEventCreate", decltype(&cuEventCreate), event_create)                                 \
  F("cuEventRecord", decltype(&cuEventRecord), event_record)                                 \
  F("cuEventElapsedTime", CUresult (*)(float*, CUevent, CUevent), event_elapsed)

struct DriverLibrary {
#define SAWTOOTH_MEMBER(symbol, type, name) std::type_identity_t<type> name = nullptr;
  SAWTOOTH_DRIVER_FUNCTIONS(SAWTOOTH_MEMBER)
#undef SAWTOOTH_MEMBER
};

/// Opens libcuda.so.1 and calls cuInit. Throws CounterError (no_driver).
DriverLibrary open_driver();

/// Throws std::runtime_error "CALL failed: NAME OF ERROR" unless `result` is CUDA_SUCCESS.
void check_driver(const DriverLibrary& driver, CUresult result, const char* call);

template <class Params>
Params zeroed_params(size_t struct_size) {
  Params params{};
  params.structSize = struct_size;
  return params;
}

// CUptiResult values that mean different things by call (cupti_result.h).
inline constexpr int invalid_parameter = 1;
inline constexpr int invalid_metric_name = 17;

inline std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace sawtooth::cupti
