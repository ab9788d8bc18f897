// Records of when each item of a launch began (`sawtooth measure --item-trace`), with the points
// that were launched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/launch_times.hpp"

namespace sawtooth::experiments {

struct RecordedItem {
  int64_t start_ns = 0;
  int64_t item = 0;
  int64_t steps = 0;
};

struct RecordedLaunch {
  LaunchTimes point;                            // its times are not set
  std::vector<std::vector<RecordedItem>> ctas;  // items of each CTA in the order of time
};

/// One a repetition of a point. Throws UsageError for what is no such table, and for items of a
/// point that `points_path` has not.
std::vector<RecordedLaunch> read_item_records(const std::string& points_path,
                                              const std::string& items_path);

}  // namespace sawtooth::experiments
