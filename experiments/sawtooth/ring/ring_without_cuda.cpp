#include "experiments/sawtooth/ring/ring_command.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"

namespace sawtooth::experiments {

int run_ring(const Command& command, const Arguments& arguments) {
  parse_command_line(command, arguments, 1);
  return report_not_built("ring");
}

}  // namespace sawtooth::experiments
