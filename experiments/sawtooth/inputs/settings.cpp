#include "experiments/sawtooth/inputs/settings.hpp"

#include <stdexcept>

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

}  // namespace sawtooth::experiments
