// Commands that need a GPU, in a program that was built without a CUDA compiler.
#include <iostream>

#include "experiments/sawtooth/calibrate/fit_command.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"

namespace sawtooth::experiments {
namespace {

int not_built(std::string_view what) {
  std::cerr << "sawtooth: " << what
            << " needs kernels, but this program was built without a CUDA compiler; install nvcc "
               "and build again\n";
  return exit_no_device;
}

}  // namespace

int run_calibrate(const Command& command, const Arguments& arguments) {
  const Settings settings = parse_command_line(command, arguments, 0).settings;
  if (!value_or(settings, "from", "").empty()) return calibrate_from(settings);
  return not_built("calibrate");
}

int run_counters_dump(const Command& command, const Arguments& arguments) {
  parse_command_line(command, arguments, 1);
  return not_built("counters dump");
}

}  // namespace sawtooth::experiments
