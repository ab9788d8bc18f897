// What Nsight Compute wrote with `ncu --csv --page raw --print-units base`: lines of its own and of
// the program, then a header, a row of units, and a row a launch with a column a metric.
// Source: Nsight Compute CLI documentation, "CSV output"; reports of ncu 2025.3.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/inject/pass_file.hpp"

namespace sawtooth::experiments {

struct NcuValue {
  std::string text;  // as written, without thousands separators
  std::string unit;
};

struct NcuLaunch {
  inject::LaunchRecord launch;  // its values stay empty
  size_t process = 0;           // by order of appearance
  std::map<std::string, NcuValue> metrics;
};

/// Throws UsageError that names file and line for what is no such report.
std::vector<NcuLaunch> parse_ncu_report(std::string_view text, const std::string& path);

}  // namespace sawtooth::experiments
