// What the program says of its commands (inputs/commands.hpp): help, man pages, completions.
#pragma once

#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/commands.hpp"

namespace sawtooth::experiments {

/// The help of the whole program, and of one command with its options by group.
std::string program_help();
std::string command_help(const Command& command);

/// The completion of `shell`: bash, zsh or fish. Throws UsageError for another one.
std::string completion(std::string_view shell);

/// The man page, in roff, of the program (empty name) or of a command. Throws UsageError.
std::string man_page(std::string_view command);

}  // namespace sawtooth::experiments
