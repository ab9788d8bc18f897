// What a prediction from a share of the tiles says of its own error.
#pragma once

#include <string>

#include "experiments/sawtooth/support/csv.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// A line that names the row, the tiles that were followed and 95 % intervals; empty where the
/// prediction is of all tiles.
std::string sampling_note(const CsvRow& row, const sim::Prediction& prediction);

}  // namespace sawtooth::experiments
