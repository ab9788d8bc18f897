#include "experiments/sawtooth/measure/measure_command.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"

namespace sawtooth::experiments {

int run_measure(const Command& command, const Arguments& arguments) {
  parse_command_line(command, arguments, 1);
  return report_not_built("measure");
}

int run_bench(const Command& command, const Arguments& arguments) {
  parse_command_line(command, arguments, 1);
  return report_not_built("bench");
}

}  // namespace sawtooth::experiments
