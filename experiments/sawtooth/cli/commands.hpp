// The table of commands, in the order of the help. A command is declared in its own folder and gets
// a row here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/command_line.hpp"

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

}  // namespace sawtooth::experiments
