// Runs the user's command once, with more in its environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sawtooth::experiments {

/// How a command ended.
struct CommandEnd {
  int exit_code = 0;
  int signal = 0;            // that ended it; 0: none
  bool interrupted = false;  // this program was asked to stop meanwhile

  bool fine() const { return exit_code == 0 && signal == 0 && !interrupted; }
  std::string text() const;  // "ended with signal 11"
};

/// Waits for the command. Ctrl-C reaches it as it does this program, which then waits for it too;
/// SIGTERM is passed on. `quiet_output`: what it prints goes to standard error.
/// Throws UsageError when it cannot be started.
CommandEnd run_command(const std::vector<std::string>& command,
                       const std::vector<std::pair<std::string, std::string>>& environment,
                       bool quiet_output);

}  // namespace sawtooth::experiments
