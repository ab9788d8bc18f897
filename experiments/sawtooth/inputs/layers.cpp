#include "experiments/sawtooth/inputs/layers.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view any_window = "window";

bool holds(const Condition& condition, const Settings& problem) {
  const auto found = problem.find(condition.key);
  if (found == problem.end()) return false;
  const std::string& value = found->second.values.front();
  return std::any_of(condition.values.begin(), condition.values.end(), [&](const std::string& v) {
    return v == value ||
           (condition.key == "mask" && v == any_window && value.starts_with(window_prefix));
  });
}

bool holds(const std::vector<Condition>& conditions, const Settings& problem) {
  return std::ranges::all_of(conditions,
                             [&](const Condition& condition) { return holds(condition, problem); });
}

}  // namespace

Layers::Layers(const Settings& given, Catalog& catalog) : given_(given) {
  const SystemFile* system =
      given.contains("system") ? &catalog.system(given.at("system")) : nullptr;
  has_system_ = system != nullptr;
  if (has_system_) merged_ = system->settings;
  overlay(merged_, given);
  complete_problem();
  if (!has_system_) return;
  // Guards see the problem that all layers give together.
  preset_ = system->settings;
  overlay(preset_, guarded_settings(*system, merged_));
  merged_ = preset_;
  overlay(merged_, given);
  complete_problem();
  costs_.path = system->path;
  for (const GuardedCosts& one : system->costs)
    if (holds(one.conditions, merged_)) costs_.sections.push_back(one.costs);
}

void Layers::fail(const std::string& key, const std::string& what) const {
  const auto found = merged_.find(key);
  const bool written = found != merged_.end() && found->second.origin.file != "default";
  throw Refusal((written ? place_of(key, found->second.origin) : key) + ": " + what);
}

Keys Layers::keys() const {
  Keys keys;
  for (const OptionSpec& option : option_table()) {
    if (option.field.read == nullptr) continue;
    const auto found = merged_.find(option.key);
    if (found != merged_.end())
      option.field.read(found->second.values.front(), keys);
    else if (!option.default_text.empty())
      option.field.read(option.default_text, keys);
  }
  return keys;
}

void Layers::refuse(std::string_view key, const std::string& what) const {
  throw UsageError(place_of(std::string(key), merged_.find(key)->second.origin) + ": " + what);
}

void Layers::complete_problem() {
  for_each_feature([&]<class Feature>(Feature*) {
    if constexpr (requires { Feature::complete_text(*this); }) Feature::complete_text(*this);
  });
  for (const char* key : {"seq-q", "seq-kv"}) {
    if (has(key)) continue;
    if (!has("seq")) {
      throw UsageError(std::string("seq: not given; give seq, or seq-q and seq-kv (") + key +
                       " is missing)");
    }
    set_if_missing(key, merged_.at("seq").values.front());
  }
  for (const OptionSpec& option : option_table())
    if (option.group == OptionGroup::problem && !option.default_text.empty())
      set_if_missing(option.key, option.default_text);
  set_if_missing("kv-heads", std::string(merged_.at("heads").values.front()));
}

namespace {

constexpr std::string_view head_section = "system";
constexpr std::string_view costs_word = "costs";

bool can_be_tested(const OptionSpec* option) {
  return option != nullptr && (option->group == OptionGroup::problem || option->key == "gpu") &&
         option->key != "seq";
}

std::string canonical_alternative(const OptionSpec& option, const std::string& text) {
  if (option.kind == OptionKind::mask && text == any_window) return text;
  return canonical_value(option, text);
}

Condition parse_condition(const std::string& text, const std::string& place) {
  const size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const OptionSpec* option = find_option(key);
  if (equals == std::string::npos || !can_be_tested(option))
    throw UsageError(place + "'" + text + "' is no condition; allowed: KEY=VALUE or " +
                     "KEY=VALUE|VALUE with batch, heads, kv-heads, seq-q, seq-kv, head-dim, " +
                     "dtype, mask or gpu");
  Condition condition{key, {}};
  std::istringstream values(text.substr(equals + 1));
  for (std::string value; std::getline(values, value, '|');) {
    try {
      condition.values.push_back(canonical_alternative(*option, value));
    } catch (const std::invalid_argument& error) {
      throw UsageError(place + key + ": " + error.what());
    }
  }
  if (condition.values.empty()) throw UsageError(place + key + ": a value is missing after '='");
  return condition;
}

void check_settable(const Settings& settings, bool guarded) {
  for (const auto& [key, assignment] : settings) {
    const OptionSpec& option = *find_option(key);
    const std::string place = place_of(key, assignment.origin);
    if (!option.is_axis() || key == "system" || key == "gpu")
      throw UsageError(place + ": a system cannot set this key");
    if (assignment.values.size() > 1) throw UsageError(place + ": a system gives one value a key");
    if (guarded && option.group == OptionGroup::problem)
      throw UsageError(place + ": a guarded section cannot set a key that conditions can test");
  }
}

std::vector<Condition> parse_conditions(std::istream& words, const IniSection& section,
                                        const std::string& path) {
  const std::string place =
      path + ":" + std::to_string(section.line) + ": [" + section.name + "]: ";
  std::vector<Condition> conditions;
  for (std::string word; words >> word;) conditions.push_back(parse_condition(word, place));
  return conditions;
}

void add_section(SystemFile& system, const IniSection& section) {
  std::istringstream words(section.name);
  std::string first;
  words >> first;
  if (first != costs_word) {
    words.seekg(0);
    GuardedSection guarded{section.name, section.line,
                           parse_conditions(words, section, system.path),
                           settings_of(section, system.path)};
    check_settable(guarded.settings, true);
    system.guarded.push_back(std::move(guarded));
    return;
  }
  GuardedCosts one{parse_conditions(words, section, system.path),
                   {std::string(every_kernel), {}, section.line}};
  for (const IniEntry& entry : section.entries)
    one.costs.parameters.push_back({entry.key, entry.value, "", "", entry.line});
  check_kernel_costs(system.path, one.costs);
  system.costs.push_back(std::move(one));
}

void read_head(SystemFile& system, const IniSection& section) {
  for (const IniEntry& entry : section.entries) {
    std::string* field = entry.key == "description" ? &system.description
                         : entry.key == "limits"    ? &system.limits
                         : entry.key == "alias-of"  ? &system.alias_of
                                                    : nullptr;
    if (field == nullptr)
      fail_at(system.path, entry.line,
              entry.key + ": unknown; allowed: description, limits, alias-of");
    if (!field->empty()) fail_at(system.path, entry.line, entry.key + ": given twice");
    *field = entry.value;
  }
}

}  // namespace

SystemFile read_system_file(const std::string& path) {
  const IniFile file = read_ini(path);
  SystemFile system;
  system.path = path;
  ContentHash content;
  for (const IniSection& section : file.sections) {
    if (section.name != head_section) {
      content.add_line("[" + section.name + "]");
      for (const IniEntry& entry : section.entries)
        content.add_line(entry.key).add_line(entry.value);
    }
    if (section.name.empty()) {
      system.settings = settings_of(section, path);
      check_settable(system.settings, false);
    } else if (section.name == head_section) {
      read_head(system, section);
    } else {
      add_section(system, section);
    }
  }
  system.content = content.text(content_digits);
  if (system.description.empty()) throw UsageError(path + ": [system] has no description");
  if (!system.alias_of.empty() && (!system.settings.empty() || !system.guarded.empty()))
    throw UsageError(path + ": an alias has no keys of its own; they are those of " +
                     system.alias_of);
  return system;
}

Settings guarded_settings(const SystemFile& system, const Settings& problem) {
  std::vector<const GuardedSection*> holding;
  for (const GuardedSection& section : system.guarded)
    if (holds(section.conditions, problem)) holding.push_back(&section);
  std::stable_sort(holding.begin(), holding.end(), [](const auto* a, const auto* b) {
    return a->conditions.size() > b->conditions.size();
  });
  Settings settings;
  std::map<std::string, const GuardedSection*> winners;
  for (const GuardedSection* section : holding) {
    for (const auto& [key, assignment] : section->settings) {
      const auto [winner, is_new] = winners.try_emplace(key, section);
      if (is_new) {
        settings[key] = assignment;
      } else if (winner->second->conditions.size() == section->conditions.size() &&
                 settings[key].values != assignment.values) {
        throw UsageError(
            place_of(key, assignment.origin) + ": [" + winner->second->name + "] and [" +
            section->name +
            "] both hold and are equally specific; add a section with both conditions");
      }
    }
  }
  return settings;
}

}  // namespace sawtooth::experiments
