#include "cupti/inject/context_recorder.hpp"

#include <array>
#include <stdexcept>

#include <cupti.h>

#include "cupti/inject/device_kernels.hpp"
#include "cupti/status.hpp"

namespace sawtooth::inject {
namespace {

constexpr uint64_t flush_factor = 4;  // times L2, as in kernels/stream/l2_state.cu
constexpr uint64_t vector_bytes = 16;
constexpr unsigned flush_threads = 512;
constexpr unsigned flush_ctas_per_sm = 4;
// The GPU is kept busy for so long while a launch between two events is enqueued, so that the CPU's
// part of a launch (3 to 20 us with CUPTI's callbacks) is not in its time.
constexpr uint64_t ahead_ns = 50'000;
// How long a launch waits for counters that another process of the command holds. That process
// gives them up within milliseconds unless its own counted launch waits for this process.
constexpr double lease_seconds = 10;

/// Calls that a stream capture anywhere in the process would refuse are allowed for its life.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const cupti::DriverLibrary& driver) : driver_(driver) {
    driver_.exchange_capture_mode(&mode_);
  }
  ~RelaxedCapture() { driver_.exchange_capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const cupti::DriverLibrary& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Calls `act`; what it throws becomes `status` and `message`. Whether it threw nothing.
template <class Act>
bool caught(std::string& status, std::string& message, Act act) {
  try {
    act();
    return true;
  } catch (const cupti::CounterError& error) {
    status = cupti::status_name(error.status());
    message = error.what();
  } catch (const std::exception& error) {
    status = cupti::status_name(cupti::Status::failed);
    message = error.what();
  }
  return false;
}

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

ContextRecorder::ContextRecorder(const cupti::DriverLibrary& driver, const PassRequest& request,
                                 const std::string& folder)
    : driver_(driver), flushes_(request.flush) {
  const RelaxedCapture relaxed(driver_);
  caught(status_, message_, [&] {
    load_kernels();
    if (request.metrics.empty()) {
      check(driver_.event_create(&start_, CU_EVENT_DEFAULT), "cuEventCreate");
      check(driver_.event_create(&stop_, CU_EVENT_DEFAULT), "cuEventCreate");
      return;
    }
    lease_.emplace(folder + "/counters" + device_place());
    take_counters();
    profiler_.emplace();
    plan_ = profiler_->plan(request.metrics);
    if (plan_->passes() != 1)
      throw cupti::CounterError(cupti::Status::metric_not_schedulable,
                                "these metrics need several passes on " + profiler_->chip());
  });
}

void ContextRecorder::check(CUresult result, const char* call) const {
  cupti::check_driver(driver_, result, call);
}

void ContextRecorder::load_kernels() {
  check(driver_.context_device(&device_), "cuCtxGetDevice");
  check(driver_.device_attribute(&sms_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_),
        "cuDeviceGetAttribute");
  CUmodule module = nullptr;
  check(driver_.load_module(&module, device_kernels().c_str()), "cuModuleLoadData");
  check(driver_.module_function(&wait_, module, "sawtooth_wait"), "cuModuleGetFunction");
  if (!flushes_) return;
  check(driver_.module_function(&write_, module, "sawtooth_write"), "cuModuleGetFunction");
  check(driver_.module_function(&read_, module, "sawtooth_read"), "cuModuleGetFunction");
  int l2_bytes = 0;
  check(driver_.device_attribute(&l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device_),
        "cuDeviceGetAttribute");
  vectors_ = flush_factor * static_cast<uint64_t>(l2_bytes) / vector_bytes;
  check(driver_.allocate(&buffer_, vectors_ * vector_bytes), "cuMemAlloc of four times L2");
}

/// Where the GPU sits on the bus: the same in every process, whatever number it has there.
std::string ContextRecorder::device_place() const {
  std::string place;
  for (const CUdevice_attribute part :
       {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
        CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID}) {
    int number = 0;
    check(driver_.device_attribute(&number, part, device_), "cuDeviceGetAttribute");
    place += '-';
    place += std::to_string(number);
  }
  return place;
}

void ContextRecorder::take_counters() {
  if (holds_) return;
  if (!lease_->take(lease_seconds))
    throw cupti::CounterError(cupti::Status::counters_busy,
                              "another process of the command counts on this GPU");
  holds_ = true;
}

void ContextRecorder::give_up() {
  if (!holds_.exchange(false)) return;
  if (profiler_) profiler_->release();
  lease_->give();
}

void ContextRecorder::run(CUfunction kernel, unsigned grid, unsigned block, CUstream stream,
                          void** arguments) {
  check(driver_.launch_kernel(kernel, grid, 1, 1, block, 1, 1, 0, stream, arguments, nullptr),
        "cuLaunchKernel");
}

void ContextRecorder::wait_on_device(unsigned ctas, uint64_t ns, CUstream stream) {
  void* arguments[] = {&ns};
  run(wait_, ctas, 1, stream, arguments);
}

void ContextRecorder::flush() {
  check(driver_.reset_persisting(), "cuCtxResetPersistingL2Cache");
  void* arguments[] = {&buffer_, &vectors_};
  const unsigned grid = static_cast<unsigned>(sms_) * flush_ctas_per_sm;
  run(write_, grid, flush_threads, nullptr, arguments);
  run(read_, grid, flush_threads, nullptr, arguments);
  check(driver_.synchronize(), "cuCtxSynchronize");
}

void ContextRecorder::describe(const ForeignLaunch& launch, LaunchRecord& record) const {
  record.device = device_;
  if (launch.function == nullptr) return;
  record.grid = extent_text(launch.grid);
  record.block = extent_text(launch.block);
  CUfunction function = launch.function;
  const auto attribute = [&](CUfunction_attribute what, int64_t& value) {
    int read = 0;
    const bool known = driver_.function_attribute(&read, what, function) == CUDA_SUCCESS;
    if (known) value = read;
    return known;
  };
  // Launches also take a CUkernel, which belongs to no context.
  const bool is_function = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, record.registers);
  if (!is_function && (driver_.kernel_function(&function, reinterpret_cast<CUkernel>(
                                                              launch.function)) != CUDA_SUCCESS ||
                       !attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, record.registers)))
    return;
  if (attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, record.shared_bytes))
    record.shared_bytes += launch.dynamic_shared_bytes;
}

void ContextRecorder::begin(const ForeignLaunch& launch, LaunchRecord& record) {
  const RelaxedCapture relaxed(driver_);
  describe(launch, record);
  record.status = status_;
  record.message = message_;
  open_ = false;
  if (status_ != "ok") return;
  stream_ = launch.stream;
  open_ = caught(record.status, record.message, [&] {
    if (profiler_) {
      take_counters();
      profiler_->begin(plan_->groups.front(), [&] {
        if (flushes_)
          flush();
        else
          wait_on_device(static_cast<unsigned>(sms_), 0, nullptr);
      });
      return;
    }
    check(driver_.synchronize(), "cuCtxSynchronize");
    if (flushes_) flush();
    wait_on_device(1, ahead_ns, stream_);
    check(driver_.event_record(start_, stream_), "cuEventRecord");
  });
}

void ContextRecorder::end(bool launched, LaunchRecord& record) {
  if (!open_) return;
  open_ = false;
  const RelaxedCapture relaxed(driver_);
  caught(record.status, record.message, [&] {
    if (profiler_) {
      const std::vector<double> values = profiler_->end(plan_->groups.front());
      const std::vector<std::string>& metrics = plan_->groups.front().metrics();
      for (size_t i = 0; i < values.size(); ++i) record.values[metrics[i]] = values[i];
    } else {
      check(driver_.event_record(stop_, stream_), "cuEventRecord");
      check(driver_.synchronize(), "cuCtxSynchronize");
      float ms = 0;
      check(driver_.event_elapsed(&ms, start_, stop_), "cuEventElapsedTime");
      constexpr double us_per_ms = 1000;
      record.time_us = static_cast<double>(ms) * us_per_ms;
    }
    if (!launched) throw std::runtime_error("the program's launch failed");
  });
  if (wanted()) give_up();
}

}  // namespace sawtooth::inject
