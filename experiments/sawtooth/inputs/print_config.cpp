#include "experiments/sawtooth/inputs/print_config.hpp"

#include <algorithm>
#include <set>

namespace sawtooth::experiments {
namespace {

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

std::string assignment_line(std::string_view key, const std::string& value) {
  std::string line(key);
  return line.append(" = ").append(value).append("\n");
}

// Keys that another key of the sweep stands for.
bool is_implied(std::string_view key, const Settings& given) {
  if (key == "seq-q" || key == "seq-kv") return given.contains("seq");
  if (key == "q-order" || key == "section" || key == "head-order") {
    return given.contains("order-file");
  }
  return false;
}

std::string sweep_text(const Settings& given, const std::vector<Point>& points) {
  std::string text;
  for (const OptionSpec& option : option_table()) {
    if (option.group == OptionGroup::output) continue;
    const auto found = given.find(option.key);
    if (found != given.end()) {
      text += assignment_line(option.key, joined(found->second.values));
      continue;
    }
    if (is_implied(option.key, given)) continue;
    std::set<std::string> values;
    for (const Point& point : points) values.insert(point.text(option.key));
    if (values.size() > 1) {
      text += "# " + assignment_line(option.key, "(differs from point to point)");
    } else if (values.size() == 1 && !values.begin()->empty()) {
      text += assignment_line(option.key, *values.begin());
    }
  }
  return text;
}

}  // namespace

std::string resolved_configuration(const Configuration& configuration, const Settings& command_line,
                                   const std::string& experiment, Catalog& catalog) {
  std::string text = assignment_line("experiment", experiment);
  const Settings outputs = output_settings(configuration, command_line);
  for (const auto& [key, assignment] : outputs) {
    if (key == "experiment" || key == "print-config") continue;
    text += assignment_line(key, joined(assignment.values));
  }
  for (const Sweep& sweep : configuration.sweeps) {
    if (!sweep.section.empty()) text += "\n[" + sweep.section + "]\n";
    Settings given = sweep.settings;
    overlay(given, command_line);
    std::vector<Point> points;
    for (const Settings& settings : expand({"", {}, {sweep}}, command_line)) {
      points.push_back(resolve(settings, catalog));
    }
    text += sweep_text(given, points);
  }
  return text;
}

}  // namespace sawtooth::experiments
