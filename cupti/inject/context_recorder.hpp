// Counts or times launches of one CUDA context of a foreign program, one after another.
//
// A launch that is counted has the GPU for itself: everything before it is waited for, and it is
// waited for. As in experiments/sawtooth/measure/measure_points.hpp a kernel runs between the
// start of the pass and the range, because the first launch of a pass comes to the SMs in another
// order; without a flush it is one that touches no memory. CUPTI's object is kept from one counted
// launch to the next, until another context or process wants the GPU's counters.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>

#include <cuda.h>
#include <cupti.h>

#include "cupti/inject/device_kernels.hpp"
#include "cupti/inject/pass_file.hpp"
#include "cupti/libraries.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"

namespace sawtooth::inject {

/// A launch as CUPTI's callbacks show it (cupti_driver_cbid.h, generated_cuda_meta.h).
struct ForeignLaunch {
  CUfunction function = nullptr;  // null for a graph; may be a CUkernel
  Extent grid{};
  Extent block{};
  unsigned dynamic_shared_bytes = 0;
  CUstream stream = nullptr;  // never null for the default stream of a thread
};

inline constexpr uint64_t flush_factor = 4;  // times L2, as in kernels/stream/l2_state.cu
inline constexpr uint64_t vector_bytes = 16;
inline constexpr unsigned flush_threads = 512;
inline constexpr unsigned flush_ctas_per_sm = 4;
// The GPU is kept busy for so long while a launch between two events is enqueued, so that the CPU's
// part of a launch (3 to 20 us with CUPTI's callbacks) is not in its time.
inline constexpr uint64_t ahead_ns = 50'000;
// How long a launch waits for counters that another process of the command holds. That process
// gives them up within milliseconds unless its own counted launch waits for this process.
inline constexpr double lease_seconds = 10;

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

/// The driver calls that launch kernels and graphs. (Launches of the runtime pass through them.)
inline constexpr std::array<CUpti_CallbackId, 8> launch_calls{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

inline ForeignLaunch read_launch(CUpti_CallbackId call, const void* parameters) {
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

inline bool takes_thread_stream(CUpti_CallbackId call) {
  return call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
         call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz ||
         call == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz ||
         call == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

inline ForeignLaunch foreign_launch(CUpti_CallbackId call, const void* parameters) {
  ForeignLaunch launch = read_launch(call, parameters);
  if (launch.stream == nullptr && takes_thread_stream(call)) launch.stream = CU_STREAM_PER_THREAD;
  return launch;
}

class ContextRecorder {
 public:
  /// A recorder is for the current context. What keeps counters off is kept for the records.
  /// `folder` is that of the pass, where its processes agree who counts.
  ContextRecorder(const cupti::DriverLibrary& driver, const PassRequest& request,
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

  /// Before and after the call that launches; neither throws. What fails stands in the record's
  /// status and message. The context must be current.
  void begin(const ForeignLaunch& launch, LaunchRecord& record) {
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

  void end(bool launched, LaunchRecord& record) {
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

  /// Whether the GPU's counters are held between launches, and whether another process waits for
  /// them. From any thread.
  bool holds() const { return holds_; }
  bool wanted() const { return lease_ && lease_->wanted(); }
  /// Gives them up. Not between begin() and end().
  void give_up() {
    if (!holds_.exchange(false)) return;
    if (profiler_) profiler_->release();
    lease_->give();
  }

 private:
  void check(CUresult result, const char* call) const {
    cupti::check_driver(driver_, result, call);
  }

  void load_kernels() {
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
  std::string device_place() const {
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

  void take_counters() {
    if (holds_) return;
    if (!lease_->take(lease_seconds))
      throw cupti::CounterError(cupti::Status::counters_busy,
                                "another process of the command counts on this GPU");
    holds_ = true;
  }

  void run(CUfunction kernel, unsigned grid, unsigned block, CUstream stream, void** arguments) {
    check(driver_.launch_kernel(kernel, grid, 1, 1, block, 1, 1, 0, stream, arguments, nullptr),
          "cuLaunchKernel");
  }

  void wait_on_device(unsigned ctas, uint64_t ns, CUstream stream) {
    void* arguments[] = {&ns};
    run(wait_, ctas, 1, stream, arguments);
  }

  void flush() {
    check(driver_.reset_persisting(), "cuCtxResetPersistingL2Cache");
    void* arguments[] = {&buffer_, &vectors_};
    const unsigned grid = static_cast<unsigned>(sms_) * flush_ctas_per_sm;
    run(write_, grid, flush_threads, nullptr, arguments);
    run(read_, grid, flush_threads, nullptr, arguments);
    check(driver_.synchronize(), "cuCtxSynchronize");
  }

  void describe(const ForeignLaunch& launch, LaunchRecord& record) const {
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

  cupti::DriverLibrary driver_;
  bool flushes_;
  std::optional<cupti::RangeProfiler> profiler_;  // empty where launches are timed
  std::optional<cupti::MetricPlan> plan_;
  std::optional<CounterLease> lease_;  // as profiler_
  std::atomic<bool> holds_ = false;
  std::string status_ = "ok", message_;
  CUdevice device_ = 0;
  int sms_ = 0;
  CUfunction write_ = nullptr, read_ = nullptr, wait_ = nullptr;
  CUdeviceptr buffer_ = 0;  // four times L2; freed with the context
  uint64_t vectors_ = 0;
  CUevent start_ = nullptr, stop_ = nullptr;
  CUstream stream_ = nullptr;  // of the open launch
  bool open_ = false;
};

}  // namespace sawtooth::inject
