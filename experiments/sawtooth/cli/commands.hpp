// The table of commands, in the order of the help. A command is declared in its own folder and gets
// a row here.
#pragma once

#include <span>
#include <string>

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

std::span<const Command> commands();

/// The help of the whole program, and of one command with its options by group.
std::string program_help();
std::string command_help(const Command& command);

}  // namespace sawtooth::experiments
