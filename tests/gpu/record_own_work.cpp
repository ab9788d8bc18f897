// The GPU work of the library that `sawtooth record` injects, without CUPTI, for compute-sanitizer,
// which cannot watch a process whose counters are read: the kernels that fill and read four times
// L2, the one that waits, and the events that time a launch, around launches of a kernel.
//
// Ends with 0 if every launch was recorded, 1 if one was not, 3 without a GPU.
#include <cstdio>

#include "cupti/inject/context_recorder.hpp"
#include "cupti/inject/device_kernels.hpp"
#include "cupti/status.hpp"

namespace {

using sawtooth::inject::ContextRecorder;
using sawtooth::inject::ForeignLaunch;
using sawtooth::inject::LaunchRecord;

constexpr unsigned launches = 4, ctas = 7;
constexpr uint64_t kernel_ns = 200'000;

int check() {
  const sawtooth::cupti::DriverLibrary driver = sawtooth::cupti::open_driver();
  const auto must = [&](CUresult result, const char* call) {
    sawtooth::cupti::check_driver(driver, result, call);
  };
  CUcontext context = nullptr;
  must(driver.primary_retain(&context, 0), "cuDevicePrimaryCtxRetain");
  must(driver.context_set_current(context), "cuCtxSetCurrent");
  CUmodule module = nullptr;
  must(driver.load_module(&module, sawtooth::inject::device_kernels().c_str()), "cuModuleLoadData");
  ForeignLaunch launch{.grid = {ctas, 1, 1}, .block = {1, 1, 1}};
  must(driver.module_function(&launch.function, module, "sawtooth_wait"), "cuModuleGetFunction");

  ContextRecorder recorder(driver, {.flush = true}, ".");
  int recorded = 0;
  for (unsigned i = 0; i < launches; ++i) {
    LaunchRecord record;
    recorder.begin(launch, record);
    uint64_t ns = kernel_ns;
    void* arguments[] = {&ns};
    const CUresult result =
        driver.launch_kernel(launch.function, ctas, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    recorder.end(result == CUDA_SUCCESS, record);
    const bool right = record.status == "ok" && record.time_us * 1000 >= kernel_ns &&
                       record.registers > 0 && record.grid == "7x1x1";
    recorded += right;
    std::printf("launch %u: %s %s%.1f us\n", i, record.status.c_str(), record.message.c_str(),
                record.time_us);
  }
  must(driver.primary_release(0), "cuDevicePrimaryCtxRelease");
  return recorded == launches ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return check();
  } catch (const sawtooth::cupti::CounterError& error) {
    std::fprintf(stderr, "record_own_work: %s\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "record_own_work: %s\n", error.what());
    return 1;
  }
}
