// Reads a command's options from the command line, with Boost.Program_options.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/cli/commands.hpp"
#include "experiments/sawtooth/inputs/settings.hpp"

namespace sawtooth::experiments {

struct ParsedCommandLine {
  Settings settings;
  std::vector<std::string> operands;
};

/// Throws UsageError for an option that the command does not read, for a missing or wrong value,
/// and for more than `most_operands` operands.
ParsedCommandLine parse_command_line(const Command& command, const Arguments& arguments,
                                     size_t most_operands);

bool is_on(const Settings& settings, std::string_view key);
/// The only value of `key`, or `otherwise`.
std::string value_or(const Settings& settings, std::string_view key, std::string_view otherwise);

}  // namespace sawtooth::experiments
