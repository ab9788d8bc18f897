#include "experiments/sawtooth/inputs/sweep.hpp"

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// More points than this are a typing error; each takes some kilobytes until it is written.
constexpr size_t most_points = size_t{1} << 16;

/// Adds the points of one sweep to `all`.
void add_cross_product(const Settings& axes, std::vector<Settings>& all) {
  std::vector<Settings> points(1);
  for (const OptionSpec& option : option_table()) {
    const auto found = axes.find(option.key);
    if (found == axes.end() || !option.is_axis()) {
      if (found != axes.end()) {
        for (Settings& point : points) point[found->first] = found->second;
      }
      continue;
    }
    const auto& [key, assignment] = *found;
    if (all.size() + points.size() * assignment.values.size() > most_points) {
      throw UsageError(place_of(key, assignment.origin) + ": more than " +
                       std::to_string(most_points) + " points; allowed: up to so many in all");
    }
    std::vector<Settings> longer;
    longer.reserve(points.size() * assignment.values.size());
    for (const Settings& point : points) {
      for (const std::string& value : assignment.values) {
        longer.push_back(point);
        longer.back()[key] = {{value}, assignment.origin};
      }
    }
    points = std::move(longer);
  }
  for (Settings& point : points) all.push_back(std::move(point));
}

void reject_outputs(const Settings& settings) {
  for (const auto& [key, assignment] : settings) {
    if (find_option(key)->group == OptionGroup::output) {
      throw UsageError(place_of(key, assignment.origin) +
                       ": belongs before the first section, it holds for all of them");
    }
  }
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
  return parse_configuration(read_text_file(path), path);
}

Configuration empty_configuration() {
  return {"", {}, {Sweep{}}};
}

std::vector<Settings> expand(const Configuration& configuration, const Settings& command_line) {
  std::vector<Settings> points;
  for (const Sweep& sweep : configuration.sweeps) {
    Settings merged;
    overlay(merged, sweep.settings);
    overlay(merged, command_line);
    add_cross_product(merged, points);
  }
  return points;
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
