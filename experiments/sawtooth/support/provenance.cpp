#include "experiments/sawtooth/support/provenance.hpp"

#include <array>
#include <ctime>
#include <ostream>

#include <dlfcn.h>
#include <sys/utsname.h>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "git_version.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view unknown = "unknown";

std::string host_system() {
  utsname name{};
  if (uname(&name) != 0) return std::string(unknown);
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string installed_cupti() {
  try {
    return std::to_string(cupti::cupti_version().version);
  } catch (const cupti::CounterError& error) {
    return std::string(cupti::status_name(error.status()));
  }
}

// The driver's view of a GPU through NVML (NVML API Reference), opened at run time: the library
// comes with the driver and is not needed to build.
using Device = void*;
constexpr unsigned clock_sm = 1;   // NVML_CLOCK_SM
constexpr unsigned clock_mem = 2;  // NVML_CLOCK_MEM
constexpr size_t text_bytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE, the largest of those used

template <class... Arguments>
using Call = int (*)(Arguments...);

/// NVML's functions return 0 on success.
class Nvml {
 public:
  explicit Nvml(const std::string& pci_bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    const auto init = find<>("nvmlInit_v2");
    const auto handle = find<const char*, Device*>("nvmlDeviceGetHandleByPciBusId_v2");
    if (init == nullptr || handle == nullptr || init() != 0) return;
    if (handle(pci_bus_id.c_str(), &device_) != 0) device_ = nullptr;
  }
  ~Nvml() {
    if (library_ == nullptr) return;
    if (const auto shutdown = find<>("nvmlShutdown")) shutdown();
    dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// What `function` says of the device, a text or a number.
  std::string text(const char* function) const {
    std::array<char, text_bytes> text{};
    return is_read<char*, unsigned>(function, text.data(), text_bytes) ? text.data() : "unknown";
  }
  template <class... Which>
  std::string number(const char* function, Which... which) const {
    unsigned value = 0;
    return is_read<Which..., unsigned*>(function, which..., &value) ? std::to_string(value)
                                                                    : "unknown";
  }
  std::string driver() const {
    std::array<char, text_bytes> text{};
    const auto call = find<char*, unsigned>("nvmlSystemGetDriverVersion");
    return call != nullptr && call(text.data(), text_bytes) == 0 ? text.data() : "unknown";
  }

 private:
  template <class... Arguments>
  bool is_read(const char* function, Arguments... arguments) const {
    const auto call = find<Device, Arguments...>(function);
    return device_ != nullptr && call != nullptr && call(device_, arguments...) == 0;
  }
  template <class... Arguments>
  Call<Arguments...> find(const char* name) const {
    if (library_ == nullptr) return nullptr;
    return reinterpret_cast<Call<Arguments...>>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  Device device_ = nullptr;
};

}  // namespace

std::string Provenance::value(std::string_view key) const {
  for (const auto& [name, text] : entries)
    if (name == key) return text;
  return std::string(unknown);
}

Provenance program_provenance(std::span<const std::string> arguments) {
  Provenance result;
  result.add("tool-version", SAWTOOTH_VERSION);
  result.add("git-commit", SAWTOOTH_GIT_COMMIT);
  result.add("git-dirty", SAWTOOTH_GIT_DIRTY);
  result.add("compiler", SAWTOOTH_COMPILER);
  result.add("flags", SAWTOOTH_FLAGS);
  result.add("nvcc", SAWTOOTH_NVCC);
  result.add("cuda-architectures", SAWTOOTH_ARCHITECTURES);
  result.add("cupti", installed_cupti());
  result.add("arguments", join_list(arguments, " "));
  result.add("utc", utc_now());
  result.add("host", host_system());
  return result;
}

std::string version_text() {
  constexpr size_t digits = 12;
  const std::string commit = SAWTOOTH_GIT_COMMIT;
  std::string text = "sawtooth " SAWTOOTH_VERSION " (commit " + commit.substr(0, digits);
  if (std::string_view(SAWTOOTH_GIT_DIRTY) == "yes") text += ", with changes";
  return text + ")";
}

std::string hashed_uuid(std::string_view uuid) {
  return ContentHash().add(uuid).text();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

void write_provenance(std::ostream& out, std::string_view section, const Provenance& provenance) {
  out << '[' << section << "]\n";
  for (const auto& [key, value] : provenance.entries) out << ini_line(key, value);
  out << '\n';
}

Provenance gpu_state(const std::string& pci_bus_id) {
  const Nvml nvml(pci_bus_id);
  Provenance state;
  state.add("utc", utc_now());
  state.add("driver", nvml.driver());
  state.add("name", nvml.text("nvmlDeviceGetName"));
  const std::string uuid = nvml.text("nvmlDeviceGetUUID");
  state.add("uuid-hash", uuid == "unknown" ? uuid : hashed_uuid(uuid));
  state.add("sm-clock-mhz", nvml.number("nvmlDeviceGetClockInfo", clock_sm));
  state.add("memory-clock-mhz", nvml.number("nvmlDeviceGetClockInfo", clock_mem));
  state.add("max-sm-clock-mhz", nvml.number("nvmlDeviceGetMaxClockInfo", clock_sm));
  state.add("power-mw", nvml.number("nvmlDeviceGetPowerUsage"));
  state.add("power-limit-mw", nvml.number("nvmlDeviceGetEnforcedPowerLimit"));
  return state;
}

}  // namespace sawtooth::experiments
