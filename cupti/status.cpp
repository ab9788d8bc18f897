#include "cupti/status.hpp"

#include <array>
#include <utility>

namespace sawtooth::cupti {
namespace {

struct StatusText {
  std::string_view name;
  std::string_view help;
};

// In the order of Status.
constexpr auto status_texts = std::to_array<StatusText>({
    {"ok", ""},
    {"not-built",
     "this program was built without CUPTI; install the CUDA toolkit with CUPTI (12.6 or "
     "newer), set CUDA_HOME and build again"},
    {"no-cupti",
     "libcupti was not found; install the CUDA toolkit's CUPTI (12.6 or newer) or set "
     "CUDA_HOME or SAWTOOTH_CUPTI_DIR to the folder that holds it"},
    {"no-nvperf-host",
     "CUPTI found no libnvperf_host.so of its own release, or no driver; set "
     "SAWTOOTH_CUPTI_DIR to the folder that holds both libraries"},
    {"no-driver",
     "no NVIDIA driver or no GPU was found; run on a machine with a GPU and its driver "
     "(in a container: with --gpus)"},
    {"insufficient-privilege",
     "the driver keeps counters for administrators; run as root or with CAP_SYS_ADMIN "
     "(containers: --cap-add=SYS_ADMIN), or load the driver with "
     "NVreg_RestrictProfilingToAdminUsers=0 (see RmProfilingAdminOnly in "
     "/proc/driver/nvidia/params)"},
    {"counters-busy",
     "another profiler holds the GPU's counters; stop ncu, nsys or DCGM's profiling "
     "(dcgmi profpause) and run again"},
    {"nested-profiler", "this process already runs under a profiler or debugger; run it without"},
    {"virtualized",
     "this virtual GPU does not allow counters; ask the host's administrator to enable "
     "profiling for this vGPU, or run on the bare GPU"},
    {"confidential-computing", "confidential computing mode forbids counters; run where it is off"},
    {"mig", "a MIG instance does not allow these counters; run where MIG is off"},
    {"wsl",
     "counters are off under WSL; allow GPU performance counters for all users in "
     "NVIDIA's control panel on Windows, or run on native Linux"},
    {"unsupported-device",
     "CUPTI's range profiler does not support this GPU or its configuration; it needs "
     "compute capability 7.5 or newer, without SLI"},
    {"chip-unknown",
     "this CUPTI does not know the chip; install a newer CUDA toolkit (another chip's "
     "metrics are never used instead)"},
    {"no-metric-table",
     "no table maps the L2 counters of this chip; name metrics yourself with `sawtooth "
     "counters dump --metrics`, or add the chip to cupti/metric_table.cpp"},
    {"unknown-metric",
     "unknown metric, or its rollup (.sum, .avg, .pct ...) is missing; `sawtooth "
     "counters list --chip NAME` lists what there is"},
    {"metric-not-schedulable",
     "CUPTI lists this metric but cannot schedule it on this chip; leave it out"},
    {"ranges-dropped",
     "CUPTI dropped ranges, so counters are incomplete; measure fewer ranges at once"},
    {"failed", "CUPTI failed"},
});
static_assert(status_texts.size() == size_t(Status::failed) + 1);

// CUptiResult values, from cupti_result.h of CUDA 13.0.
constexpr std::array<std::pair<int, Status>, 18> status_codes{{
    {2, Status::no_driver},            // INVALID_DEVICE
    {15, Status::no_nvperf_host},      // NOT_INITIALIZED
    {17, Status::unknown_metric},      // INVALID_METRIC_NAME
    {23, Status::counters_busy},       // DISABLED
    {26, Status::counters_busy},       // HARDWARE_BUSY
    {27, Status::unsupported_device},  // NOT_SUPPORTED
    {33, Status::virtualized},         // VIRTUALIZED_DEVICE_NOT_SUPPORTED
    {35, Status::insufficient_privilege},
    {36, Status::nested_profiler},     // OLD_PROFILER_API_INITIALIZED
    {38, Status::unsupported_device},  // LEGACY_PROFILER_NOT_SUPPORTED
    {39, Status::nested_profiler},     // MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
    {40, Status::virtualized},         // VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
    {41, Status::confidential_computing},
    {42, Status::unsupported_device},  // CMP_DEVICE_NOT_SUPPORTED
    {43, Status::mig},
    {44, Status::unsupported_device},  // SLI_DEVICE_NOT_SUPPORTED
    {45, Status::wsl},
    {46, Status::chip_unknown},  // INVALID_CHIP_NAME
}};

std::string message(Status status, std::string_view context, int code) {
  std::string text = std::string(context) + ": " + std::string(status_help(status));
  if (code != 0) text += " (CUPTI error " + std::to_string(code) + ")";
  return text;
}

}  // namespace

std::string_view status_name(Status status) {
  return status_texts[size_t(status)].name;
}

std::string_view status_help(Status status) {
  return status_texts[size_t(status)].help;
}

Status status_of(int code) {
  if (code == 0) return Status::ok;
  for (const auto& [known, status] : status_codes)
    if (known == code) return status;
  return Status::failed;
}

CounterError::CounterError(Status status, std::string_view context, int code)
    : std::runtime_error(message(status, context, code)), status_(status), code_(code) {}

void check(int code, std::string_view call) {
  if (code != 0) throw CounterError(status_of(code), call, code);
}

}  // namespace sawtooth::cupti
