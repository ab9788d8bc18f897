// Counts or times launches of one CUDA context of a foreign program, one after another.
//
// A launch that is counted has the GPU for itself: everything before it is waited for, and it is
// waited for. As in experiments/sawtooth/measure/launch_counters.hpp a kernel runs between the
// start of the pass and the range, because the first launch of a pass comes to the SMs in another
// order; without a flush it is one that touches no memory. CUPTI's object is kept from one counted
// launch to the next, until another context or process wants the GPU's counters.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>

#include <cuda.h>
#include <cupti_callbacks.h>

#include "cupti/inject/pass_file.hpp"
#include "cupti/libraries.hpp"
#include "cupti/range_profiler.hpp"

namespace sawtooth::inject {

/// A launch as CUPTI's callbacks show it (cupti_driver_cbid.h, generated_cuda_meta.h).
struct ForeignLaunch {
  CUfunction function = nullptr;  // null for a graph; may be a CUkernel
  Extent grid{};
  Extent block{};
  unsigned dynamic_shared_bytes = 0;
  CUstream stream = nullptr;  // never null for the default stream of a thread
};

/// The driver calls that launch kernels and graphs. (Launches of the runtime pass through them.)
std::span<const CUpti_CallbackId> launch_calls();

ForeignLaunch foreign_launch(CUpti_CallbackId call, const void* parameters);

class ContextRecorder {
 public:
  /// A recorder is for the current context. What keeps counters off is kept for the records.
  /// `folder` is that of the pass, where its processes agree who counts.
  ContextRecorder(const cupti::DriverLibrary& driver, const PassRequest& request,
                  const std::string& folder);

  /// Before and after the call that launches; neither throws. What fails stands in the record's
  /// status and message. The context must be current.
  void begin(const ForeignLaunch& launch, LaunchRecord& record);
  void end(bool launched, LaunchRecord& record);

  /// Whether the GPU's counters are held between launches, and whether another process waits for
  /// them. From any thread.
  bool holds() const { return holds_; }
  bool wanted() const { return lease_ && lease_->wanted(); }
  /// Gives them up. Not between begin() and end().
  void give_up();

 private:
  void load_kernels();
  std::string device_place() const;
  void take_counters();
  void run(CUfunction kernel, unsigned grid, unsigned block, CUstream stream, void** arguments);
  void wait_on_device(unsigned ctas, uint64_t ns, CUstream stream);
  void flush();
  void describe(const ForeignLaunch& launch, LaunchRecord& record) const;
  void check(CUresult result, const char* call) const;

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
