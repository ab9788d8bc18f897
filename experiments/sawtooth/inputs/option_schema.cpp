#include "experiments/sawtooth/inputs/option_schema.hpp"

#include <algorithm>

namespace sawtooth::experiments {

std::span<const OptionSpec> option_table() {
  static const std::vector<OptionSpec> table = [] {
    std::vector<OptionSpec> rows = point_options();
    rows.insert(rows.end(), output_options().begin(), output_options().end());
    return rows;
  }();
  return table;
}

std::vector<std::string_view> option_names(CommandSet commands) {
  std::vector<std::string_view> names;
  for (const OptionSpec& option : option_table())
    if ((option.commands & commands) != 0) names.push_back(option.key);
  return names;
}

std::string_view key_of_name(std::string_view name) {
  for (const OptionAlias& alias : option_aliases)
    if (alias.name == name) return alias.key;
  return name;
}

const OptionSpec* find_option(std::string_view key) {
  const auto found = std::ranges::find(option_table(), key, &OptionSpec::key);
  return found == option_table().end() ? nullptr : &*found;
}

}  // namespace sawtooth::experiments
