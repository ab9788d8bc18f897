// libcupti, libnvperf_host and libcuda, opened at run time, so that a program starts where they
// are absent and can say why counters are off.
//
// libcupti opens libnvperf_host.so by its bare name, which an executable's RUNPATH does not help;
// so it is opened here first, by full path and with global symbols.
#pragma once

#include <string>

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

namespace sawtooth::cupti {

/// CUPTI's functions that need neither a GPU nor a driver, and those of the range profiler.
struct CuptiLibrary {
  std::string folder;  // where libcupti was found; empty: by the loader's own search
  decltype(&cuptiGetVersion) get_version;
  decltype(&cuptiProfilerHostGetSupportedChips) host_chips;
  decltype(&cuptiProfilerHostInitialize) host_initialize;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize;
  decltype(&cuptiProfilerHostGetBaseMetrics) host_base_metrics;
  decltype(&cuptiProfilerHostGetMetricProperties) host_metric_properties;
  decltype(&cuptiProfilerHostConfigAddMetrics) host_add_metrics;
  decltype(&cuptiProfilerHostGetConfigImageSize) host_config_image_size;
  decltype(&cuptiProfilerHostGetConfigImage) host_config_image;
  decltype(&cuptiProfilerHostGetNumOfPasses) host_passes;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) host_evaluate;
  decltype(&cuptiProfilerInitialize) initialize;
  decltype(&cuptiProfilerDeInitialize) deinitialize;
  decltype(&cuptiProfilerDeviceSupported) device_supported;
  decltype(&cuptiProfilerGetCounterAvailability) counter_availability;
  decltype(&cuptiDeviceGetChipName) device_chip_name;
  decltype(&cuptiRangeProfilerEnable) range_enable;
  decltype(&cuptiRangeProfilerDisable) range_disable;
  decltype(&cuptiRangeProfilerSetConfig) range_set_config;
  decltype(&cuptiRangeProfilerGetCounterDataSize) range_counter_data_size;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) range_counter_data_initialize;
  decltype(&cuptiRangeProfilerStart) range_start;
  decltype(&cuptiRangeProfilerStop) range_stop;
  decltype(&cuptiRangeProfilerPushRange) range_push;
  decltype(&cuptiRangeProfilerPopRange) range_pop;
  decltype(&cuptiRangeProfilerDecodeData) range_decode;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) range_counter_data_info;
  decltype(&cuptiRangeProfilerCounterDataGetRangeInfo) range_info;
};

/// Searches SAWTOOTH_CUPTI_DIR, CUDA_HOME, CUDA_PATH, the toolkit of the build, /usr/local/cuda,
/// then the loader's own places. The libraries stay loaded until the program ends.
/// Throws CounterError (no_cupti, no_nvperf_host).
CuptiLibrary open_cupti();

/// The driver's functions that the range profiler calls.
struct DriverLibrary {
  decltype(&cuInit) init;
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDriverGetVersion) driver_version;
  CUresult (*primary_retain)(CUcontext*, CUdevice);
  CUresult (*primary_release)(CUdevice);
  decltype(&cuCtxGetCurrent) context_current;
  decltype(&cuCtxGetDevice) context_device;
  decltype(&cuCtxSetCurrent) context_set_current;
  decltype(&cuCtxSynchronize) synchronize;
  decltype(&cuGetErrorName) error_name;
};

/// Opens libcuda.so.1 and calls cuInit. Throws CounterError (no_driver).
DriverLibrary open_driver();

}  // namespace sawtooth::cupti
