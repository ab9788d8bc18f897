// A libcupti without a GPU. A pass holds six metrics; every metric of a range reads 1000 times the
// number of launches in the range plus the grid of the last one, so that a range with more or less
// than one launch shows; one whose name has "objects" reads how many objects of the profiler this
// process has had. One object counts at a time: in a process, and of those that name the same file
// in SAWTOOTH_FAKE_COUNTERS. SAWTOOTH_FAKE_ENABLE_ERROR is what cuptiRangeProfilerEnable returns.
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <fcntl.h>

namespace {

constexpr size_t metrics_a_pass = 6;
constexpr size_t image_bytes = 16;

CUpti_CallbackFunc subscriber = nullptr;
bool in_range = false;
unsigned launches = 0, last_grid = 0;
size_t ranges = 0;  // whose counters the image was given since it was initialised
bool enabled = false;
int objects = 0;

struct Host {
  size_t metrics = 0;
};

/// Takes or frees the counters. False where another process has them.
bool lock_counters(short type) {
  const char* path = std::getenv("SAWTOOTH_FAKE_COUNTERS");
  if (path == nullptr) return true;
  static const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return fcntl(file, F_SETLK, &lock) == 0;
}

Host* host_of(void* object) {
  return static_cast<Host*>(object);
}

}  // namespace

extern "C" {
void sawtooth_fake_show(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (subscriber != nullptr) subscriber(nullptr, domain, id, data);
}
void sawtooth_fake_work(const char*, unsigned grid) {
  if (!in_range) return;
  ++launches;
  last_grid = grid;
}

#define FAKE(name, type) CUptiResult name([[maybe_unused]] type* p)
FAKE(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params) {
  p->numChips = 0;
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params) {
  p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params) {
  delete host_of(p->pHostObject);
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params) {
  return CUPTI_ERROR_UNKNOWN;
}
FAKE(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params) {
  return CUPTI_ERROR_UNKNOWN;
}
FAKE(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params) {
  for (size_t i = 0; i < p->numMetrics; ++i)
    if (std::strstr(p->ppMetricNames[i], "no_such") != nullptr)
      return CUPTI_ERROR_INVALID_METRIC_NAME;
  host_of(p->pHostObject)->metrics += p->numMetrics;
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params) {
  p->configImageSize = image_bytes;
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params) {
  p->pConfigImage[0] = static_cast<uint8_t>(host_of(p->pHostObject)->metrics);
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params) {
  p->numOfPasses = (p->pConfigImage[0] + metrics_a_pass - 1) / metrics_a_pass;
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params) {
  for (size_t i = 0; i < p->numMetrics; ++i) {
    const bool of_objects = std::strstr(p->ppMetricNames[i], "objects") != nullptr;
    p->pMetricValues[i] = of_objects ? objects : 1000.0 * launches + last_grid;
  }
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params) {
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerDeInitialize, CUpti_Profiler_DeInitialize_Params) {
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported_Params) {
  for (auto* level : {&p->vGpu, &p->confidentialCompute, &p->wsl, &p->isSupported})
    *level = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return CUPTI_SUCCESS;
}
FAKE(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params) {
  p->counterAvailabilityImageSize = image_bytes;
  return CUPTI_SUCCESS;
}
FAKE(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params) {
  p->pChipName = "GH100";
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params) {
  const char* error = std::getenv("SAWTOOTH_FAKE_ENABLE_ERROR");
  if (error != nullptr) return static_cast<CUptiResult>(std::atoi(error));
  if (enabled || !lock_counters(F_WRLCK)) return CUPTI_ERROR_HARDWARE_BUSY;
  enabled = true;
  ++objects;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params) {
  in_range = enabled = false;
  lock_counters(F_UNLCK);
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params) {
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params) {
  p->counterDataSize = image_bytes;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerCounterDataImageInitialize,
     CUpti_RangeProfiler_CounterDataImage_Initialize_Params) {
  ranges = 0;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params) {
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params) {
  p->isAllPassSubmitted = 1;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params) {
  in_range = true;
  launches = 0;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params) {
  in_range = false;
  ++ranges;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params) {
  p->numOfRangeDropped = 0;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params) {
  p->numTotalRanges = ranges;
  return CUPTI_SUCCESS;
}
FAKE(cuptiRangeProfilerCounterDataGetRangeInfo,
     CUpti_RangeProfiler_CounterData_GetRangeInfo_Params) {
  p->rangeName = "launch";
  return CUPTI_SUCCESS;
}
#undef FAKE

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130000;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc function, void*) {
  subscriber = function;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
}
