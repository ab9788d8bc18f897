// What a command is, and its options from the command line, with Boost.Program_options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"

namespace sawtooth::experiments {

/// What follows the command's name on the command line.
using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view operands;     // as the help shows them, e.g. "[CONFIG]"
  std::string_view description;  // one line
  std::string_view example;      // what may follow the name
  /// Returns an exit code; throws UsageError for a mistake of the user's.
  int (*run)(const Command& command, const Arguments& arguments);
  CommandSet options = 0;                   // which rows of the option table it reads
  std::span<const PlainOption> flags = {};  // options that are no keys of configurations
};

struct ParsedCommandLine {
  Settings settings;
  std::vector<std::string> operands;
};

/// Throws UsageError for an option that the command does not read, for a missing or wrong value,
/// and for more than `most_operands` operands.
ParsedCommandLine parse_command_line(const Command& command, const Arguments& arguments,
                                     size_t most_operands);

/// What a command with the operand [CONFIG] is given, or a configuration alone says.
struct SweepArguments {
  Settings command_line;
  Configuration configuration;  // empty without the operand
  Settings outputs;             // output options of both
  std::string experiment;       // the name for rows
};
/// The experiment, where files are called so; throws UsageError for what would leave its folder.
std::string name_of_files(const SweepArguments& given);
SweepArguments sweep_arguments(Configuration configuration, Settings command_line = {});
SweepArguments parse_sweep_arguments(const Command& command, const Arguments& arguments);

}  // namespace sawtooth::experiments
