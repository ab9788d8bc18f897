#include "experiments/sawtooth/calibrate/fit_command.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"

namespace sawtooth::experiments {

int run_calibrate(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  if (const auto done = calibrate_recorded(parsed)) return *done;
  return report_not_built("calibrate");
}

}  // namespace sawtooth::experiments
