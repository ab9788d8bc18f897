// Rows of results.csv as a table for people: what varies, and what came out of it.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// Lines of `rows` (cells of results.csv): the key columns that differ, DRAM reads in multiples of
/// the compulsory ones (in sectors where these are not known), time, TFLOP/s, the model. Columns
/// that are empty in all rows are left out.
std::string short_table(const std::vector<CsvRow>& rows);

}  // namespace sawtooth::experiments
