#include "experiments/sawtooth/support/resources.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view extension = ".ini";

fs::path root() {
  const char* chosen = std::getenv("SAWTOOTH_EXPERIMENTS");
  return chosen != nullptr && *chosen != '\0' ? chosen : SAWTOOTH_EXPERIMENTS_DIR;
}

}  // namespace

std::vector<std::string> resource_names(std::string_view folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root() / folder, error)) {
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  }
  if (error) {
    throw UsageError((root() / folder).string() + ": cannot be read (" + error.message() +
                     "); set SAWTOOTH_EXPERIMENTS to the project's experiments folder");
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string resource_path(std::string_view folder, const std::string& name,
                          const std::string& place) {
  if (name.find('/') != std::string::npos || name.ends_with(extension)) return name;
  const auto names = resource_names(folder);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string known;
    for (const auto& each : names) known += (known.empty() ? "" : ", ") + each;
    throw UsageError(place + ": '" + name + "' is not known; allowed: " + known +
                     ", or a path to an .ini file");
  }
  return (root() / folder / (name + std::string(extension))).string();
}

std::string plot_script(std::string_view name) {
  return (root() / ".." / "plots" / "figures" / name).lexically_normal().string();
}

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

}  // namespace sawtooth::experiments
