// Runs a command once for each pass and gathers what the injected library writes.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/record/command_run.hpp"
#include "experiments/sawtooth/record/merge_passes.hpp"
#include "experiments/sawtooth/record/record_arguments.hpp"

namespace sawtooth::experiments {

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
