// The table of commands, in the order of the help. A command is declared in its own folder and gets
// a row here.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"

namespace sawtooth::experiments {

std::span<const Command> commands();

/// What may follow a command's name, for its help and its man page.
std::string_view example_of(const Command& command);

/// The help of the whole program, and of one command with its options by group.
std::string program_help();
std::string command_help(const Command& command);

/// The completion of `shell`: bash, zsh or fish. Throws UsageError for another one.
std::string completion(std::string_view shell);

/// The man page, in roff, of the program (empty name) or of a command. Throws UsageError.
std::string man_page(std::string_view command);

// Options in words, for help, man pages and completions; all of it from the option table.

struct GroupTitle {
  OptionGroup group;
  std::string_view title;
};
inline constexpr auto group_titles = std::to_array<GroupTitle>({
    {OptionGroup::problem, "Problem"},
    {OptionGroup::schedule, "Schedule"},
    {OptionGroup::where, "Where it runs"},
    {OptionGroup::model, "Model"},
    {OptionGroup::output, "Output"},
});

/// "--key VALUE" of a command's own option.
std::string left_of(const PlainOption& option);

/// What it means, its values and its default.
std::string explanation(const OptionSpec& option);

/// Values that can be listed: choices, on and off, names of GPUs and systems.
std::vector<std::string> listed_values(const OptionSpec& option);

inline constexpr std::string_view exit_codes =
    "0 fine, 1 a check failed, 2 wrong usage, 3 device or counters not available.";

}  // namespace sawtooth::experiments
