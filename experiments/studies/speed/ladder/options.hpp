// The command line of the ladder program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/problem.hpp"

namespace sawtooth::experiments::ladder {

struct Options {
  std::vector<int> levels;  // in ascending order, at least one
  Problem problem;
  int repetitions = 20;
  bool read_counters = true;
  std::string csv;  // empty: no file
  bool help = false;
};

/// Throws UsageError: one line that names the option and what is allowed.
Options parse_options(int argc, const char* const* argv);

std::string usage();

}  // namespace sawtooth::experiments::ladder
