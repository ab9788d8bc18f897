// The library that `sawtooth record` injects: the driver loads it in cuInit
// (CUDA_INJECTION64_PATH), CUPTI's callbacks show it every launch, and it counts or times those
// that the request names. It prints nothing and changes nothing else of the program.
// Source: CUPTI documentation, "CUPTI Callback API"; samples/profiling_injection.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "cupti/inject/context_recorder.hpp"
#include "cupti/inject/pass_file.hpp"
#include "cupti/status.hpp"

namespace sawtooth::inject {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The lines that this process adds to the folder of the pass. A line is one write, so that what
/// stands there is whole whatever becomes of the process.
class ProcessFile {
 public:
  explicit ProcessFile(const std::string& folder) {
    int file = -1;
    for (int number = 0; file < 0; ++number) {
      path_ = folder + "/process-" + std::to_string(number);
      file = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file < 0 && errno != EEXIST) return;
    }
    close(file);
    std::string command = read_file("/proc/self/cmdline");
    while (!command.empty() && command.back() == '\0') command.pop_back();
    for (char& c : command) c = c == '\0' ? ' ' : c;
    add(process_line(command));
  }

  void add(const std::string& line) const {
    const int file = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0) return;
    if (write(file, line.data(), line.size()) < 0) {
      // Nothing can be said from here; the program sees that the launch is missing.
    }
    close(file);
  }

 private:
  std::string path_;
};

/// Small numbers for handles, by order of appearance.
template <class Handle>
class Numbers {
 public:
  explicit Numbers(int64_t first) : next_(first) {}
  int64_t of(Handle handle) {
    const auto [place, is_new] = known_.try_emplace(handle, next_);
    if (is_new) ++next_;
    return place->second;
  }
  size_t size() const { return known_.size(); }
  void forget(Handle handle) { known_.erase(handle); }

 private:
  std::map<Handle, int64_t> known_;
  int64_t next_;
};

// What the callbacks at both ends of a launch hand each other, CUPTI's correlation data.
enum Held : uint64_t { nothing = 0, shared_gate = 1, whole_gate = 2 };

// This thread is in a callback: what it calls there is not the program's.
thread_local bool inside = false;

// A process that waits for counters gets them so late at the latest.
constexpr std::chrono::milliseconds between_looks{20};

class Injection {
 public:
  explicit Injection(const std::string& folder)
      : folder_(folder), file_(folder), filter_(parse_request(read_file(folder + "/request"))) {}

  void note(const std::string& text) const { file_.add(note_line(text)); }

  void enter(CUpti_CallbackId call, const CUpti_CallbackData& data) {
    const ForeignLaunch launch = foreign_launch(call, data.functionParams);
    const char* symbol = launch.function == nullptr   ? "graph"
                         : data.symbolName != nullptr ? data.symbolName
                                                      : "";
    if (is_capturing(launch.stream)) return;  // its graph's launch is the one that runs
    LaunchRecord record;
    bool taken = false;
    {
      const std::lock_guard lock(order_);
      if (launch.stream != nullptr && launch.stream != CU_STREAM_LEGACY)
        record.stream = streams_.of(launch.stream);
      record.index = filter_.launches();
      taken = filter_.takes(symbol, range_open());
    }
    if (!taken) {
      gate_.lock_shared();
      *data.correlationData = shared_gate;
      return;
    }
    gate_.lock();
    *data.correlationData = whole_gate;
    record.name = demangled(symbol);
    record.context = context_numbers_.of(data.context);
    std::unique_ptr<ContextRecorder>& recorder = contexts_[data.context];
    if (holder_ != recorder.get()) give_up();
    if (recorder == nullptr)
      recorder = std::make_unique<ContextRecorder>(*driver_, filter_.request(), folder_);
    holder_ = recorder.get();
    std::call_once(watched_, [&] { watch(); });
    recorder->begin(launch, record);
    open_ = std::move(record);
  }

  void exit(const CUpti_CallbackData& data) {
    const uint64_t held = std::exchange(*data.correlationData, uint64_t{nothing});
    if (held == shared_gate) gate_.unlock_shared();
    if (held != whole_gate) return;
    const auto* result = static_cast<const CUresult*>(data.functionReturnValue);
    contexts_[data.context]->end(result == nullptr || *result == CUDA_SUCCESS, open_);
    file_.add(launch_line(open_));
    if (!said_streams_ && streams_seen() > 1) {
      said_streams_ = true;
      note("launches of several streams: what was in flight ended before a counted launch began");
    }
    gate_.unlock();
  }

  /// A recorder is left, not freed: CUPTI may be on its way out as well.
  void forget(CUcontext context) {
    const std::lock_guard lock(gate_);
    const auto found = contexts_.find(context);
    if (found == contexts_.end()) return;
    if (holder_ == found->second.get()) give_up();
    static_cast<void>(found->second.release());
    contexts_.erase(found);
    context_numbers_.forget(context);
  }

  /// The process exits: counters are given up while CUPTI is still there. A launch that is being
  /// counted by another thread keeps them.
  void leave() {
    if (!gate_.try_lock()) return;
    give_up();
    gate_.unlock();
  }

 private:
  /// The context that counted last gives up the counters; the caller holds gate_.
  void give_up() {
    ContextRecorder* const holder = holder_.exchange(nullptr);
    if (holder != nullptr) holder->give_up();
  }

  /// A thread that gives the counters to a process that waits for them while this one launches
  /// nothing. No signal of the program is handled there.
  void watch() {
    if (filter_.request().metrics.empty()) return;
    std::thread([this] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
      inside = true;
      for (;;) {
        std::this_thread::sleep_for(between_looks);
        const ContextRecorder* const holder = holder_;  // recorders are never freed
        if (holder == nullptr || !holder->holds() || !holder->wanted()) continue;
        const std::lock_guard lock(gate_);
        if (holder == holder_) give_up();
      }
    }).detach();
  }

  bool is_capturing(CUstream stream) {
    std::call_once(driver_opened_, [&] { driver_.emplace(cupti::open_driver()); });
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    // An error means a default stream beside a capture, on which the launch will fail.
    return driver_->stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  bool range_open() const {
#if defined(SAWTOOTH_HAVE_NVTX)
    return !filter_.request().nvtx.empty() && nvtx_range_open(filter_.request().nvtx);
#else
    return false;
#endif
  }

  size_t streams_seen() {
    const std::lock_guard lock(order_);
    return streams_.size();
  }

  std::string folder_;
  ProcessFile file_;
  std::once_flag driver_opened_;
  std::optional<cupti::DriverLibrary> driver_;

  std::mutex order_;  // of filter_ and streams_
  LaunchFilter filter_;
  Numbers<CUstream> streams_{1};

  std::shared_mutex gate_;  // held alone from before a counted launch until it has ended
  std::map<CUcontext, std::unique_ptr<ContextRecorder>> contexts_;
  Numbers<CUcontext> context_numbers_{0};
  std::atomic<ContextRecorder*> holder_ = nullptr;  // counted last, and may hold the counters
  std::once_flag watched_;
  LaunchRecord open_;
  bool said_streams_ = false;
};

// Lives as long as the process; a child made by fork alone has no CUDA and counts nothing.
std::atomic<Injection*> injection = nullptr;

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  Injection* const here = injection;
  if (here == nullptr || inside) return;
  inside = true;
  try {
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      here->forget(static_cast<const CUpti_ResourceData*>(data)->context);
    } else {
      const auto& launch = *static_cast<const CUpti_CallbackData*>(data);
      if (launch.callbackSite == CUPTI_API_ENTER)
        here->enter(id, launch);
      else
        here->exit(launch);
    }
  } catch (const std::exception& error) {
    here->note(error.what());
  }
  inside = false;
}

void subscribe() {
  const cupti::CuptiLibrary cupti = cupti::open_cupti();
  CUpti_SubscriberHandle subscriber = nullptr;
  cupti::check(cupti.subscribe(&subscriber, on_callback, nullptr), "cuptiSubscribe");
  for (const CUpti_CallbackId call : launch_calls)
    cupti::check(cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call),
                 "cuptiEnableCallback");
  cupti::check(cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                     CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING),
               "cuptiEnableCallback");
}

}  // namespace
}  // namespace sawtooth::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace sawtooth::inject;
  const char* folder = std::getenv(folder_variable);
  if (folder == nullptr || injection != nullptr) return 1;
  try {
    injection = new Injection(folder);
    pthread_atfork(nullptr, nullptr, [] { injection = nullptr; });
    std::atexit([] {
      inside = true;
      if (injection != nullptr) injection.load()->leave();
      inside = false;
    });
    subscribe();
  } catch (const std::exception& error) {
    if (injection != nullptr) injection.load()->note(error.what());
    injection = nullptr;
  }
  return 1;
}
