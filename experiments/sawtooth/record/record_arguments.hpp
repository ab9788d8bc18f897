// The command line of sawtooth record. Its options say which launches of a program are read, not
// what a point is, so they are no keys of configurations.
#pragma once

#include <string>
#include <vector>

#include "cupti/inject/pass_file.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"

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

}  // namespace sawtooth::experiments
