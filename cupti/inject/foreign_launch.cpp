#include "cupti/inject/foreign_launch.hpp"

#include <array>

#include <cupti.h>

namespace sawtooth::inject {
namespace {

// The parameters of the calls, as generated_cuda_meta.h lays them out; that header itself asks for
// types that cuda.h gives to the driver's own sources only.
struct LaunchKernelParameters {
  CUfunction f;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;  // here the parameters of a cooperative launch are the same
};
struct LaunchKernelExParameters {
  const CUlaunchConfig* config;
  CUfunction f;
};
struct GraphLaunchParameters {
  CUgraphExec hGraph;
  CUstream hStream;
};

constexpr std::array<CUpti_CallbackId, 8> calls{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

ForeignLaunch read(CUpti_CallbackId call, const void* parameters) {
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
      const auto& at = *static_cast<const LaunchKernelExParameters*>(parameters);
      const CUlaunchConfig& config = *at.config;
      return {at.f,
              {config.gridDimX, config.gridDimY, config.gridDimZ},
              {config.blockDimX, config.blockDimY, config.blockDimZ},
              config.sharedMemBytes,
              config.hStream};
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return {nullptr, {}, {}, 0, static_cast<const GraphLaunchParameters*>(parameters)->hStream};
    default: {
      const auto& at = *static_cast<const LaunchKernelParameters*>(parameters);
      return {at.f,
              {at.gridDimX, at.gridDimY, at.gridDimZ},
              {at.blockDimX, at.blockDimY, at.blockDimZ},
              at.sharedMemBytes,
              at.hStream};
    }
  }
}

bool takes_thread_stream(CUpti_CallbackId call) {
  return call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
         call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz ||
         call == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz ||
         call == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

}  // namespace

std::span<const CUpti_CallbackId> launch_calls() {
  return calls;
}

ForeignLaunch foreign_launch(CUpti_CallbackId call, const void* parameters) {
  ForeignLaunch launch = read(call, parameters);
  if (launch.stream == nullptr && takes_thread_stream(call)) launch.stream = CU_STREAM_PER_THREAD;
  return launch;
}

}  // namespace sawtooth::inject
