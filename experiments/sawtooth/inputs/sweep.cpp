#include "experiments/sawtooth/inputs/sweep.hpp"

#include <algorithm>
#include <set>

#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// Counts of points are added and multiplied without an overflow.
constexpr size_t most_points = size_t{1} << 62;

// Keys whose values stand in rows as they were given, whatever the other keys say: points that
// differ in one of them have different rows.
constexpr std::string_view always_told_apart[] = {
    "batch", "heads", "kv-heads", "seq",      "seq-q",       "seq-kv", "head-dim",
    "dtype", "mask",  "tile-q",   "tile-kv",  "launch",      "loop",   "workers",
    "scan",  "lse",   "prefetch", "kv-split", "ctas-per-sm", "seed",   "l2-bytes"};

size_t values_of(const Settings& sweep, const OptionSpec& option) {
  const auto found = sweep.find(option.key);
  return found == sweep.end() || !option.is_axis() ? 1 : found->second.values.size();
}

bool repeats_a_value(const Assignment& axis) {
  const std::set<std::string> values(axis.values.begin(), axis.values.end());
  return values.size() < axis.values.size();
}

void reject_outputs(const Settings& settings) {
  for (const auto& [key, assignment] : settings)
    if (find_option(key)->group == OptionGroup::output)
      throw UsageError(place_of(key, assignment.origin) +
                       ": belongs before the first section, it holds for all of them");
}

// What features make of a sweep that has their keys.
std::vector<Settings> with_parts(const Settings& sweep) {
  std::vector<Settings> sweeps{sweep};
  for_each_feature([&]<class Feature>(Feature*) {
    if constexpr (requires { Feature::parts(sweep); }) {
      std::vector<Settings> all;
      for (const Settings& whole : sweeps)
        for (Settings& part : Feature::parts(whole)) all.push_back(std::move(part));
      sweeps = std::move(all);
    }
  });
  return sweeps;
}

}  // namespace

Configuration parse_configuration(const std::string& text, const std::string& path) {
  const IniFile file = parse_ini(text, path);
  Configuration configuration{path, settings_of(file.sections.front(), path), {}};
  for (size_t i = 1; i < file.sections.size(); ++i) {
    const Settings own = settings_of(file.sections[i], path);
    reject_outputs(own);
    Sweep sweep{file.sections[i].name, configuration.base};
    overlay(sweep.settings, own);
    configuration.sweeps.push_back(std::move(sweep));
  }
  if (configuration.sweeps.empty()) configuration.sweeps.push_back({"", configuration.base});
  return configuration;
}

Configuration read_configuration(const std::string& path) {
  return parse_configuration(read_text_file(path, TextLimit::settings), path);
}

Configuration empty_configuration() {
  return {"", {}, {Sweep{}}};
}

PointList::PointList(const Configuration& configuration, const Settings& command_line) {
  for (const Sweep& sweep : configuration.sweeps) {
    Settings merged;
    overlay(merged, sweep.settings);
    overlay(merged, command_line);
    for (Settings& part : with_parts(merged)) add_sweep(std::move(part));
  }
}

void PointList::add_sweep(Settings settings) {
  const Settings& added = sweeps_.emplace_back(std::move(settings));
  size_t points = 1;
  for (const OptionSpec& option : option_table()) {
    const size_t values = values_of(added, option);
    if (values > (most_points - size_) / points)
      throw UsageError(place_of(std::string(option.key), added.find(option.key)->second.origin) +
                       ": more than 2^62 points; allowed: up to so many in all");
    points *= values;
  }
  begins_.push_back(size_);
  size_ += points;
}

Settings PointList::operator[](size_t point) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), point);
  const auto sweep = static_cast<size_t>(next - begins_.begin()) - 1;
  Settings settings;
  size_t rest = point - begins_[sweep];
  const auto options = option_table();
  for (auto option = options.rbegin(); option != options.rend(); ++option) {  // the fastest first
    const auto found = sweeps_[sweep].find(option->key);
    if (found == sweeps_[sweep].end()) continue;
    const size_t values = values_of(sweeps_[sweep], *option);
    const Assignment& axis = found->second;
    settings.emplace(found->first, Assignment{{axis.values[rest % values]}, axis.origin});
    rest /= values;
  }
  return settings;
}

bool PointList::may_repeat() const {
  if (sweeps_.size() > 1) return true;
  for (const auto& [key, axis] : sweeps_.front()) {
    if (axis.values.size() < 2) continue;
    if (std::ranges::count(always_told_apart, key) == 0 || repeats_a_value(axis)) return true;
  }
  return false;
}

std::vector<Settings> expand(const Configuration& configuration, const Settings& command_line) {
  const PointList points(configuration, command_line);
  std::vector<Settings> all;
  for (size_t i = 0; i < points.size(); ++i) all.push_back(points[i]);
  return all;
}

Settings output_settings(const Configuration& configuration, const Settings& command_line) {
  Settings merged = configuration.base;
  for (const auto& [key, assignment] : command_line) merged[key] = assignment;
  std::erase_if(merged, [](const auto& setting) {
    return find_option(setting.first)->group != OptionGroup::output;
  });
  return merged;
}

}  // namespace sawtooth::experiments
