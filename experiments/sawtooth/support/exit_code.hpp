// What the program's exit status means, the same for every command, and how a command ends that
// this build cannot run.
#pragma once

#include <iostream>
#include <string_view>

namespace sawtooth::experiments {

inline constexpr int exit_fine = 0;
inline constexpr int exit_check_failed = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_device = 3;      // no GPU, or its counters cannot be read
inline constexpr int exit_interrupted = 130;  // 128 + SIGINT, as shells report it

/// To be returned by a command that needs kernels, in a program built without a CUDA compiler.
inline int report_not_built(std::string_view command) {
  std::cerr << "sawtooth: " << command
            << " needs kernels, but this program was built without a CUDA compiler; install nvcc "
               "and build again\n";
  return exit_no_device;
}

}  // namespace sawtooth::experiments
