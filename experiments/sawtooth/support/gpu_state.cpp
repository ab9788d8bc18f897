// The driver's view of a GPU through NVML (NVML API Reference), opened at run time: the library
// comes with the driver and is not needed to build.
#include <array>

#include <dlfcn.h>

#include "experiments/sawtooth/support/provenance.hpp"

namespace sawtooth::experiments {
namespace {

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

  std::string driver() const {
    std::array<char, text_bytes> text{};
    const auto call = find<char*, unsigned>("nvmlSystemGetDriverVersion");
    return call != nullptr && call(text.data(), text_bytes) == 0 ? text.data() : "unknown";
  }
  std::string text(const char* function) const {
    std::array<char, text_bytes> text{};
    const auto call = find<Device, char*, unsigned>(function);
    const bool good =
        device_ != nullptr && call != nullptr && call(device_, text.data(), text_bytes) == 0;
    return good ? text.data() : "unknown";
  }
  std::string number(const char* function) const {
    unsigned value = 0;
    const auto call = find<Device, unsigned*>(function);
    const bool good = device_ != nullptr && call != nullptr && call(device_, &value) == 0;
    return good ? std::to_string(value) : "unknown";
  }
  std::string clock(const char* function, unsigned which) const {
    unsigned value = 0;
    const auto call = find<Device, unsigned, unsigned*>(function);
    const bool good = device_ != nullptr && call != nullptr && call(device_, which, &value) == 0;
    return good ? std::to_string(value) : "unknown";
  }

 private:
  template <class... Arguments>
  Call<Arguments...> find(const char* name) const {
    if (library_ == nullptr) return nullptr;
    return reinterpret_cast<Call<Arguments...>>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  Device device_ = nullptr;
};

}  // namespace

Provenance gpu_state(const std::string& pci_bus_id) {
  const Nvml nvml(pci_bus_id);
  Provenance state;
  state.add("utc", utc_now());
  state.add("driver", nvml.driver());
  state.add("name", nvml.text("nvmlDeviceGetName"));
  const std::string uuid = nvml.text("nvmlDeviceGetUUID");
  state.add("uuid-hash", uuid == "unknown" ? uuid : hashed_uuid(uuid));
  state.add("sm-clock-mhz", nvml.clock("nvmlDeviceGetClockInfo", clock_sm));
  state.add("memory-clock-mhz", nvml.clock("nvmlDeviceGetClockInfo", clock_mem));
  state.add("max-sm-clock-mhz", nvml.clock("nvmlDeviceGetMaxClockInfo", clock_sm));
  state.add("power-mw", nvml.number("nvmlDeviceGetPowerUsage"));
  state.add("power-limit-mw", nvml.number("nvmlDeviceGetEnforcedPowerLimit"));
  return state;
}

}  // namespace sawtooth::experiments
