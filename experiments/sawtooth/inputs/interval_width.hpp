// How wide the interval of a predicted figure is, from what a model was wrong by on lists of
// points: [intervals] of a GPU's profile, a column a line.
//
//   dram_read_sectors = 0.12, 0.005, 9.9; measured; ...
//
// The measured value lies in predicted x exp(-h) to predicted x exp(h) in 90 % of points. h is the
// first number where one launch was simulated; where several were, it is the third number times
// hypot(s, second number), with s the standard deviation of the logarithm over these launches:
// points at which dies and pages differ are those at which the model errs.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/profile_file.hpp"

namespace sawtooth::experiments {

/// Columns of results.csv that no model of time knows exactly. Each, X, has X_low and X_high.
inline constexpr auto interval_columns = std::to_array<std::string_view>(
    {"l2_read_sectors", "l2_read_miss_sectors", "fabric_read_sectors", "fabric_read_miss_sectors",
     "dram_read_sectors", "dram_write_sectors", "time_us"});

struct IntervalWidth {
  std::string column;  // one of interval_columns
  double of_one_launch = 0;
  double floor = 0;  // of the spread over launches
  double factor = 0;

  /// h, of what the simulated launches say; at least one, each above 0.
  double half_width(const std::vector<double>& launches) const;
};

/// Throws UsageError with `path`, line and what is allowed.
IntervalWidth parse_interval_width(const std::string& path, const Parameter& parameter);

}  // namespace sawtooth::experiments
