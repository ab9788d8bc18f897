// Rows of results.csv: the cells of a point, and what came out of it.
#pragma once

#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// What stands in the column version of a prediction.
inline constexpr std::string_view program_version = SAWTOOTH_VERSION;

/// The counters in the order of their columns, empty where not modelled.
CsvRow counter_cells(const sim::Counters& counters);

/// Cells experiment to seed of a point.
CsvRow key_cells(const Point& point, std::string_view experiment, std::string_view source);

/// Twelve hexadecimal digits that stand for the resolved point: a hash of its key cells, without
/// the names of the row, its kernel and how a prediction was made (columns.hpp says of which
/// columns), so that a prediction and a measurement of a point agree on it where their keys do.
std::string run_id(const CsvRow& key_cells);

CsvRow predicted_row(const CsvRow& key_cells, const sim::Counters& counters);
/// With duration and TFLOP/s where the prediction has them; `flop` is the whole point's.
CsvRow predicted_row(const CsvRow& key_cells, const sim::Prediction& prediction, double flop);

std::string result_header();

}  // namespace sawtooth::experiments
