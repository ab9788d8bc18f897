// What the program says of its commands (inputs/commands.hpp): help, man pages, completions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/commands.hpp"

namespace sawtooth::experiments {

using OptionFunction =
    std::function<void(std::string_view title, const OptionSpec& option, std::string_view value)>;
/// Calls `function` for the options of a command, its own ones first, with the title of their group
/// and the name of their value.
void for_each_option(const Command& command, const OptionFunction& function);

/// The help of the whole program, and of one command with its options by group.
std::string program_help();
std::string command_help(const Command& command);

/// The completion of `shell`: bash, zsh or fish. Throws UsageError for another one.
std::string completion(std::string_view shell);

/// The man page, in roff, of the program (empty name) or of a command. Throws UsageError.
std::string man_page(std::string_view command);

}  // namespace sawtooth::experiments
