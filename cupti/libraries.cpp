#include "cupti/libraries.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <dlfcn.h>

#include "cupti/status.hpp"

namespace sawtooth::cupti {
namespace {

namespace fs = std::filesystem;

constexpr int built_major = CUDA_VERSION / 1000;  // CUDA_VERSION is 1000 * major + 10 * minor

std::vector<std::string> cupti_file_names() {
  std::vector<std::string> names{"libcupti.so." + std::to_string(built_major)};
  for (const int major : {13, 12, 14})
    if (major != built_major) names.push_back("libcupti.so." + std::to_string(major));
  names.emplace_back("libcupti.so");
  return names;
}

/// The places under a toolkit's root where distributions and pip packages keep CUPTI.
void add_toolkit(std::vector<fs::path>& folders, const fs::path& root) {
  for (const char* below : {"lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib",
                            "targets/sbsa-linux/lib", "lib", ""}) {
    folders.push_back(root / below);
  }
}

std::vector<fs::path> search_folders() {
  std::vector<fs::path> folders;
  for (const char* name : {"SAWTOOTH_CUPTI_DIR", "CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') add_toolkit(folders, value);
  }
#if defined(SAWTOOTH_CUPTI_BUILD_ROOT)
  add_toolkit(folders, SAWTOOTH_CUPTI_BUILD_ROOT);
#endif
  add_toolkit(folders, "/usr/local/cuda");
  return folders;
}

void* open_global(const std::string& file) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

struct OpenLibrary {
  void* handle = nullptr;
  std::string folder;
};

/// What the process has loaded is used rather than a second copy beside it.
OpenLibrary open_loaded() {
  for (const std::string& name : cupti_file_names()) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    void* symbol = handle != nullptr ? dlsym(handle, "cuptiRangeProfilerEnable") : nullptr;
    Dl_info info{};
    if (symbol == nullptr || dladdr(symbol, &info) == 0) continue;
    const fs::path folder = fs::path(info.dli_fname).parent_path();
    if (open_global((folder / "libnvperf_host.so").string()) != nullptr)
      return {handle, folder.string()};
  }
  return {};
}

OpenLibrary open_in_folders() {
  for (const fs::path& folder : search_folders()) {
    for (const std::string& name : cupti_file_names()) {
      std::error_code ignored;
      if (!fs::exists(folder / name, ignored)) continue;
      if (open_global((folder / "libnvperf_host.so").string()) == nullptr &&
          open_global("libnvperf_host.so") == nullptr)
        throw CounterError(Status::no_nvperf_host, (folder / name).string());
      if (void* handle = open_global((folder / name).string())) return {handle, folder.string()};
    }
  }
  return {};
}

OpenLibrary open_by_name() {
  const bool host = open_global("libnvperf_host.so") != nullptr;
  for (const std::string& name : cupti_file_names()) {
    if (void* handle = open_global(name)) {
      if (!host) throw CounterError(Status::no_nvperf_host, name);
      return {handle, ""};
    }
  }
  return {};
}

template <class Function>
void bind(void* handle, const char* name, Function& function, Status status) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr)
    throw CounterError(status, std::string("the library lacks ") + name + " (too old?)");
}

}  // namespace

CuptiLibrary open_cupti() {
  OpenLibrary opened = open_loaded();
  if (opened.handle == nullptr) opened = open_in_folders();
  if (opened.handle == nullptr) opened = open_by_name();
  if (opened.handle == nullptr) throw CounterError(Status::no_cupti, "counters are off");

  CuptiLibrary library;
  library.folder = opened.folder;
#define SAWTOOTH_BIND(function, name) \
  bind(opened.handle, #function, library.name, Status::no_cupti);
  SAWTOOTH_CUPTI_FUNCTIONS(SAWTOOTH_BIND)
#undef SAWTOOTH_BIND
  return library;
}

DriverLibrary open_driver() {
  void* handle = open_global("libcuda.so.1");
  if (handle == nullptr) throw CounterError(Status::no_driver, "libcuda.so.1 was not found");

  DriverLibrary driver{};
#define SAWTOOTH_BIND(symbol, type, name) bind(handle, symbol, driver.name, Status::no_driver);
  SAWTOOTH_DRIVER_FUNCTIONS(SAWTOOTH_BIND)
#undef SAWTOOTH_BIND
  if (const CUresult result = driver.init(0); result != CUDA_SUCCESS)
    throw CounterError(Status::no_driver,
                       "cuInit failed with CUDA error " + std::to_string(result));
  return driver;
}

void check_driver(const DriverLibrary& driver, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  driver.error_name(result, &name);
  throw std::runtime_error(std::string(call) + " failed: " + (name != nullptr ? name : "unknown"));
}

}  // namespace sawtooth::cupti
