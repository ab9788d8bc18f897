// How large an error may be: one share for all counters, or one a counter.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::experiments {

/// The columns of results.csv that can be compared: counters, time_us and tflops.
std::vector<std::string_view> comparable_columns();

class Tolerances {
 public:
  /// "5%", "0.05", or "dram_read_sectors=3%,time_us=5%"; throws std::invalid_argument.
  static Tolerances parse(std::string_view text);

  /// The largest error that passes, or nothing where this counter is not judged.
  std::optional<double> of(std::string_view counter) const;

 private:
  std::optional<double> all_;
  std::map<std::string, double, std::less<>> by_counter_;
};

}  // namespace sawtooth::experiments
