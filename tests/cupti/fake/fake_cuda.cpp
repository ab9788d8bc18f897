// A libcuda.so.1 without a GPU: it runs nothing, but loads the injected library in cuInit and
// calls back around launches as the driver does. Only what cupti/ and program.cpp call is there.
#include <cstdlib>

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include "tests/cupti/fake/fake.hpp"

#undef cuEventElapsedTime

namespace {

using sawtooth::fake::Function;

thread_local CUcontext current = nullptr;
bool capturing = false;

// As in generated_cuda_meta.h.
struct LaunchKernelParameters {
  CUfunction f;
  unsigned grid[3], block[3], shared;
  CUstream stream;
};
struct GraphLaunchParameters {
  CUgraphExec graph;
  CUstream stream;
};

/// Shows a call to the subscriber of the fake libcupti, if one is loaded.
void call_back(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* parameters,
               const char* symbol, uint64_t* correlation, CUresult* result) {
  using Show = void (*)(CUpti_CallbackDomain, CUpti_CallbackId, const void*);
  const auto show = reinterpret_cast<Show>(dlsym(RTLD_DEFAULT, "sawtooth_fake_show"));
  if (show == nullptr) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionParams = parameters;
  data.functionReturnValue = result;
  data.symbolName = symbol;
  data.context = current;
  data.correlationData = correlation;
  show(CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

/// `work` between the two callbacks of a launch.
template <class Parameters>
CUresult launch(CUpti_CallbackId id, const Parameters& parameters, const char* symbol,
                unsigned grid) {
  uint64_t correlation = 0;
  CUresult result = CUDA_SUCCESS;
  call_back(id, CUPTI_API_ENTER, &parameters, symbol, &correlation, &result);
  using Work = void (*)(const char*, unsigned);
  const auto work = reinterpret_cast<Work>(dlsym(RTLD_DEFAULT, "sawtooth_fake_work"));
  if (work != nullptr && !capturing) work(symbol, grid);
  call_back(id, CUPTI_API_EXIT, &parameters, symbol, &correlation, &result);
  return result;
}

}  // namespace

extern "C" {
CUresult cuInit(unsigned) {
  static bool first = true;
  if (std::getenv("SAWTOOTH_FAKE_NO_GPU") != nullptr) return CUDA_ERROR_NO_DEVICE;
  if (!first) return CUDA_SUCCESS;
  first = false;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return CUDA_SUCCESS;
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return CUDA_ERROR_UNKNOWN;
  reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return number < 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(0x10);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() {
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult, const char** name) {
  *name = "CUDA_ERROR_FAKE";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE ? 1 << 20 : 4;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t) {
  *memory = 0x1000;
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = reinterpret_cast<CUmodule>(0x20);
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = reinterpret_cast<CUfunction>(new Function{name});
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? 40 : 1024;
  return CUDA_SUCCESS;
}
CUresult cuKernelGetFunction(CUfunction*, CUkernel) {
  return CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) {
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream) {
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) {
  *ms = 0.125F;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void**,
                        void**) {
  const LaunchKernelParameters parameters{f, {gx, gy, gz}, {bx, by, bz}, shared, stream};
  return launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, parameters,
                reinterpret_cast<Function*>(f)->name.c_str(), gx);
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  return launch(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, GraphLaunchParameters{graph, stream},
                nullptr, 7);
}
void sawtooth_fake_capture(int on) {
  capturing = on != 0;
}
}
