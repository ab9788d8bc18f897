// The columns X_low and X_high of a predicted row.
#pragma once

#include <vector>

#include "experiments/sawtooth/inputs/interval_width.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// Fills the interval of every column that `widths` are of, around its value in `prediction`; of
/// counters in whole sectors, outwards. One that is not predicted, or is 0 in a launch, has none.
void add_intervals(const sim::Prediction& prediction, const std::vector<IntervalWidth>& widths,
                   CsvRow& row);

}  // namespace sawtooth::experiments
