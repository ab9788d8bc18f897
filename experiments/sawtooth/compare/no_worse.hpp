// A test on locality: predicted counters of a table must not be above those of one that was kept.
//
// A point is held against the one of the same gpu, system, kernel family, problem and schedule. A
// schedule that has changed is held against the only one of the same problem.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/tolerances.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct NoWorse {
  std::vector<std::string> worse;    // a line a point and counter that rose
  std::vector<std::string> missing;  // a line a kept point without a new one
  size_t compared = 0;               // points
};

/// Points without any of `counters` are left out. `tolerances` say by which share a counter may
/// rise; without one it may not. Throws UsageError for a missing column, for several kept schedules
/// of one problem where none is the point's, and where two points were predicted by different
/// models.
NoWorse compare_with_kept(const CsvTable& predicted, const CsvTable& kept,
                          const std::vector<std::string_view>& counters,
                          const Tolerances& tolerances);

}  // namespace sawtooth::experiments
