#include "experiments/sawtooth/inputs/sweep.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

std::string place_of(const std::string& key, const Origin& origin) {
  if (origin.file.empty()) return "--" + key;
  return origin.file + ":" + std::to_string(origin.line) + ": " + key;
}

void assign(Settings& settings, const std::string& name, const std::string& text,
            const Origin& origin) {
  const std::string key(key_of_name(name));
  const OptionSpec* option = find_option(key);
  if (option == nullptr) {
    const std::string removal = removal_of(key);
    if (!removal.empty()) throw UsageError(place_of(key, origin) + ": " + removal);
    throw UsageError(place_of(key, origin) +
                     ": unknown key; `sawtooth COMMAND --help` lists the keys of a command" +
                     did_you_mean(key, option_names()));
  }
  Assignment& assignment = settings[key];
  assignment.origin = origin;
  const auto parts = option->is_axis() ? split_list(text) : std::vector<std::string>{text};
  for (const std::string& part : parts) {
    try {
      for (std::string& value : axis_values(*option, part))
        assignment.values.push_back(std::move(value));
    } catch (const std::invalid_argument& error) {
      throw UsageError(place_of(key, origin) + ": " + error.what());
    }
  }
  if (!option->is_axis() && assignment.values.size() > 1)
    throw UsageError(place_of(key, origin) + ": given twice; it takes one value");
}

Settings settings_of(const IniSection& section, const std::string& path) {
  Settings settings;
  for (const IniEntry& entry : section.entries)
    assign(settings, entry.key, entry.value, {path, entry.line});
  return settings;
}

void overlay(Settings& low, const Settings& high) {
  const auto seq = high.find("seq");
  if (seq != high.end()) {
    if (high.contains("seq-q") && high.contains("seq-kv"))
      throw UsageError(place_of("seq", seq->second.origin) +
                       ": has no effect beside seq-q and seq-kv; leave one of the three out");
    low.erase("seq-q");
    low.erase("seq-kv");
  }
  for (const auto& [key, assignment] : high) low[key] = assignment;
  if (low.contains("seq-q") && low.contains("seq-kv")) low.erase("seq");
}

std::string value_or(const Settings& settings, std::string_view key, std::string_view otherwise) {
  const auto found = settings.find(key);
  return std::string(found == settings.end() ? otherwise : found->second.values.front());
}

bool is_on(const Settings& settings, std::string_view key) {
  return value_or(settings, key, "off") == "on";
}

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

// The resolved configuration.

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
    if (!sweep.section.empty()) text += "\n[" + one_line(sweep.section) + "]\n";
    Settings given = sweep.settings;
    overlay(given, command_line);
    const PointList points({"", {}, {sweep}}, command_line);
    ValuesByKey values;
    bool plain = false;
    for (size_t i = 0; i < points.size(); ++i) {
      const Point point = resolve(points[i], catalog);
      plain = plain || point.plain_call;
      for (const OptionSpec& option : option_table()) {
        // A range over models is of a point that names none, and so is a time that is left out.
        const bool open = (option.key == "timing" && (point.spans_models() || point.hides_time)) ||
                          (option.key == "l2" && point.spans_models());
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
