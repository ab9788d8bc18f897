// sawtooth record: its command line, and the runs of a command, once for each pass. Its options say
// which launches of a program are read, not what a point is, so they are no keys of configurations.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cupti/inject/pass_file.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"

namespace sawtooth::experiments {

struct RecordArguments {
  inject::PassRequest launches;      // its metrics stay empty
  std::vector<std::string> metrics;  // empty: those of results.csv
  std::string csv = "-";
  std::string gpu;  // for the column
  int device = 0;   // whose counters are planned
  std::vector<std::string> command;
};

/// Throws UsageError.
RecordArguments parse_record_arguments(const Arguments& arguments);

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
CommandEnd execute(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   bool quiet_output);

struct Recording {
  std::vector<PassRecord> passes;
  std::vector<std::string> ends;  // how runs ended that did not end well, a line each
  bool interrupted = false;       // and so are passes missing
};

/// `groups`: the metrics of each counting pass; a timed pass goes before them. Interrupted, it
/// returns what there is. Throws UsageError when the command cannot be started.
Recording record_command(const RecordArguments& arguments,
                         const std::vector<std::vector<std::string>>& groups,
                         const std::string& library);

}  // namespace sawtooth::experiments
