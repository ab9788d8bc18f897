#include "experiments/sawtooth/support/resources.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view extension = ".ini";

std::string& own_folder() {
  static std::string folder;
  return folder;
}

// An installed program lies beside share/; in a build folder share/sawtooth is a link to the
// source.
fs::path root() {
  const char* chosen = std::getenv("SAWTOOTH_EXPERIMENTS");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  if (!own_folder().empty()) return own_folder();
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    for (const char* place : {"experiments", "share/sawtooth/experiments"}) {
      const fs::path found = fs::canonical(folder / place, error);
      if (!error && fs::is_directory(found / "profiles" / "gpus", error)) return found;
    }
  }
  throw UsageError(program.string() +
                   ": no folder above it has experiments/profiles; set SAWTOOTH_EXPERIMENTS to the "
                   "project's experiments folder");
}

}  // namespace

void use_resources(const std::string& folder) {
  own_folder() = folder;
}

std::vector<std::string> resource_names(std::string_view folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root() / folder, error))
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  if (error)
    throw UsageError((root() / folder).string() + ": cannot be read (" + error.message() +
                     "); set SAWTOOTH_EXPERIMENTS to the project's experiments folder");
  std::sort(names.begin(), names.end());
  return names;
}

std::string resource_path(std::string_view folder, const std::string& name,
                          const std::string& place) {
  if (name.find('/') != std::string::npos || name.ends_with(extension)) return name;
  const auto names = resource_names(folder);
  std::string found(found_name(name, views_of(names)));
  const auto family = family_named(name, views_of(names));
  if (found.empty() && family.size() > 1)
    throw UsageError(place + ": '" + name + "' is not one of them: " + join_list(family) +
                     "; name the one that is meant");
  if (found.empty() && !family.empty()) found = family.front();
  if (found.empty())
    throw UsageError(place + ": '" + name + "' is not known; allowed: " + join_list(names) +
                     ", or a path to an .ini file" + did_you_mean(name, views_of(names)));
  return (root() / folder / (found + std::string(extension))).string();
}

std::string resource_file(std::string_view path) {
  return (root() / path).lexically_normal().string();
}

std::string library_beside_program(std::string_view name) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder / name, folder / "../lib/sawtooth" / name})
    if (fs::exists(place, error)) return place.string();
  return {};
}

std::string stem_of(const std::string& path) {
  return fs::path(path).stem().string();
}

}  // namespace sawtooth::experiments
