#include <algorithm>
#include <map>
#include <set>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"

namespace sawtooth::experiments {
namespace {

// Keys that another key of the sweep stands for.
bool is_implied(std::string_view key, const Settings& given) {
  if (key == "seq-kv") return given.contains("seq") || given.contains("lengths");
  if (key == "seq-q")
    return given.contains("seq") || given.contains("lengths") || given.contains("q-lengths");
  if (key == "prefix-group") return !given.contains("prefix");
  if (key == "page-table") return !given.contains("page-rows");
  if (key == "q-order" || key == "section" || key == "head-order")
    return given.contains("order-file");
  return false;
}

// The values that keys have at the points of a sweep.
using ValuesByKey = std::map<std::string_view, std::set<std::string>>;

// Whether points have different values of a key, or of one that decides its default: of a tile both
// sides go together.
bool differs(std::string_view key, const ValuesByKey& values_of) {
  const auto several = [&](std::string_view of) {
    const auto found = values_of.find(of);
    return found != values_of.end() && found->second.size() > 1;
  };
  if (key == "tile-q" || key == "tile-kv") return several("tile-q") || several("tile-kv");
  return several(key);
}

std::string sweep_text(const Settings& given, const ValuesByKey& values_of) {
  std::string text;
  for (const OptionSpec& option : option_table()) {
    if (option.group == OptionGroup::output) continue;
    const auto found = given.find(option.key);
    if (found != given.end()) {
      text += ini_line(option.key, join_list(found->second.values));
      continue;
    }
    if (is_implied(option.key, given)) continue;
    const std::set<std::string>& values = values_of.at(option.key);
    if (differs(option.key, values_of))
      text += "# " + ini_line(option.key, "(differs from point to point)");
    else if (values.size() == 1 && !values.begin()->empty())
      text += ini_line(option.key, *values.begin());
  }
  return text;
}

}  // namespace

std::string resolved_configuration(const Configuration& configuration, const Settings& command_line,
                                   const std::string& experiment, Catalog& catalog) {
  std::string text = ini_line("experiment", experiment);
  const Settings outputs = output_settings(configuration, command_line);
  for (const auto& [key, assignment] : outputs) {
    if (key == "experiment" || key == "print-config") continue;
    text += ini_line(key, join_list(assignment.values));
  }
  for (const Sweep& sweep : configuration.sweeps) {
    if (!sweep.section.empty()) text += "\n[" + sweep.section + "]\n";
    Settings given = sweep.settings;
    overlay(given, command_line);
    const PointList points({"", {}, {sweep}}, command_line);
    ValuesByKey values;
    bool plain = false;
    for (size_t i = 0; i < points.size(); ++i) {
      const Point point = resolve(points[i], catalog);
      plain = plain || point.plain_call;
      for (const OptionSpec& option : option_table()) {
        // A range over models is of a point that names none.
        const bool open = point.spans_models() && (option.key == "timing" || option.key == "l2");
        if (option.group != OptionGroup::output && !given.contains(option.key))
          values[option.key].insert(open ? "auto" : point.text(option.key));
      }
    }
    const bool apart = plain && std::ranges::any_of(values, [](const auto& of) {
                         return decides_plain_call(of.first) && of.second.size() > 1;
                       });
    if (apart)  // one of these keys would name all of them
      for (auto& [key, of] : values)
        if (decides_plain_call(key)) of = {"", "(differs)"};
    text += sweep_text(given, values);
  }
  return text;
}

}  // namespace sawtooth::experiments
