#include "experiments/sawtooth/calibrate/calibrate_command.hpp"
#include "experiments/sawtooth/calibrate/fit_command.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"

namespace sawtooth::experiments {

int run_calibrate(const Command& command, const Arguments& arguments) {
  const Settings settings = parse_command_line(command, arguments, 0).settings;
  if (!value_or(settings, "from", "").empty()) return calibrate_from(settings);
  return report_not_built("calibrate");
}

}  // namespace sawtooth::experiments
