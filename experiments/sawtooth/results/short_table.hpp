// Rows of results.csv as a table for people: what varies, and what came out of it.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// Whether rows go to people: no --csv says where, and standard output is a terminal.
bool for_people(const Settings& outputs);

/// Where rows go as CSV: a path, "-", or nowhere while they go to people.
std::string csv_path(const Settings& outputs);

/// Lines of `rows` (cells of results.csv): the key columns that differ, DRAM reads in multiples of
/// the compulsory ones (in sectors where these are not known) with their interval, time, TFLOP/s,
/// the model and how it was judged on the GPU. Repetitions of a point share a line: their medians
/// and the range of their times. Columns that are empty in all rows are left out. `labels`, one a
/// point, stand first.
std::string short_table(const std::vector<CsvRow>& rows,
                        const std::vector<std::string>& labels = {});

}  // namespace sawtooth::experiments
