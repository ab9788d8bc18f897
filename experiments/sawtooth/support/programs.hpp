// Other programs that this one starts and waits for.
#pragma once

#include <string>
#include <vector>

namespace sawtooth::experiments {

/// Runs a program of the path: its exit code, or -1 where it could not be started or was killed.
/// What it prints goes to `output` where that is given, and otherwise where this program prints.
int run_program(std::vector<std::string> words, std::string* output = nullptr);

}  // namespace sawtooth::experiments
