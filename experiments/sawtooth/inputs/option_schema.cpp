#include "experiments/sawtooth/inputs/option_schema.hpp"

#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/page_table.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"

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
  for (const OptionSpec& option : option_table()) {
    if ((option.commands & commands) != 0) names.push_back(option.key);
  }
  return names;
}

std::string_view key_of_name(std::string_view name) {
  for (const OptionAlias& alias : option_aliases)
    if (alias.name == name) return alias.key;
  return name;
}

const OptionSpec* find_option(std::string_view key) {
  for (const OptionSpec& option : option_table()) {
    if (option.key == key) return &option;
  }
  return nullptr;
}

std::string allowed_values(const OptionSpec& option) {
  using enum OptionKind;
  switch (option.kind) {
    case count:
      return "a whole number from " + std::to_string(option.low) + " to " +
             std::to_string(option.high) + " (K, M and G mean 1024, 1024^2 and 1024^3)" +
             (option.is_axis() ? ", or a range such as 96K..128K:4K" : "");
    case parts:
      return "auto, or a whole number from " + std::to_string(option.low) + " to " +
             std::to_string(option.high) + ", or a range such as 1..8";
    case bytes:
      return "bytes from " + std::to_string(option.low) + " to " + std::to_string(option.high) +
             ", such as 25165824, 512KiB, 24MiB or 1GiB";
    case share:
      return "a number above 0 and up to 1, or a percentage, such as 0.01 or 1%";
    case seed:
      return "a whole number from 0 on";
    case choice: {
      std::string list;
      for (const std::string_view choice_name : option.allowed()) {
        list += (list.empty() ? "" : ", ") + std::string(choice_name);
      }
      return "one of " + list;
    }
    case on_off:
    case toggle:
      return "on or off";
    case mask:
      return "none, causal or window:W with W from 1 to " + std::to_string(most_keys) + " keys";
    case section:
      return "a whole number of heads, all, or auto:BYTES such as auto:32MiB";
    case part:
      return "a whole number from " + std::to_string(option.low) + " to " +
             std::to_string(option.high) + ", or all";
    case lengths:
      return std::string(allowed_lengths);
    case page_table:
      return std::string(allowed_page_tables);
    case name:
      return "a known name, or a path with a '/' or an ending .ini";
    case path:
      return "a file name";
    case tolerance:
      return "5% or 0.05, or a list such as dram_read_sectors=3%,time_us=5%";
    case text:
      return "text on one line";
  }
  return {};
}

}  // namespace sawtooth::experiments
