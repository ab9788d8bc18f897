// The table of commands. A command is added here, and exists for the program and its help.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/option_schema.hpp"

namespace sawtooth::experiments {

/// What follows the command's name on the command line.
using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view operands;     // as the help shows them, e.g. "[CONFIG]"
  std::string_view description;  // one line
  /// Returns an exit code; throws UsageError for a mistake of the user's.
  int (*run)(const Command& command, const Arguments& arguments);
  CommandSet options = 0;  // which rows of the option table it reads
};

std::span<const Command> commands();

int run_simulate(const Command& command, const Arguments& arguments);
int run_run(const Command& command, const Arguments& arguments);
int run_measure(const Command& command, const Arguments& arguments);  // with CUDA only
int run_bench(const Command& command, const Arguments& arguments);    // with CUDA only
int run_compare(const Command& command, const Arguments& arguments);
int run_counters(const Command& command, const Arguments& arguments);
int run_counters_dump(const Command& command, const Arguments& arguments);
int run_calibrate(const Command& command, const Arguments& arguments);
int run_gpus(const Command& command, const Arguments& arguments);
int run_systems(const Command& command, const Arguments& arguments);
int run_trace(const Command& command, const Arguments& arguments);  // with zstd only
int run_schedules(const Command& command, const Arguments& arguments);

/// The help of the whole program, and of one command with its options by group.
std::string program_help();
std::string command_help(const Command& command);

}  // namespace sawtooth::experiments
