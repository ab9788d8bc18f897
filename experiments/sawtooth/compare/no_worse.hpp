// A test on locality: predicted counters of a table must not be above those of one that was kept.
//
// A row is held against the row of the same gpu, system, kernel family, problem and schedule. A
// schedule that has changed is held against the only row of the same problem.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/tolerances.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct NoWorse {
  std::vector<std::string> worse;    // a line a point and counter that rose
  std::vector<std::string> missing;  // a line a kept point without a new one
  size_t compared = 0;               // points
};

/// `tolerances` say by which share a counter may rise; without one it may not. Throws UsageError
/// for a missing column, for several kept rows of one problem where none has the schedule, and
/// where two rows were made by different models.
NoWorse compare_with_kept(const CsvTable& predicted, const CsvTable& kept,
                          const std::vector<std::string_view>& counters,
                          const Tolerances& tolerances);

}  // namespace sawtooth::experiments
