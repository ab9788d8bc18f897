// What `sawtooth compare` prints, the same as a table for scripts, and its table of every point.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/tolerances.hpp"

namespace sawtooth::experiments {

/// Errors by group, regime and counter; changes of schedule. Counters whose worst error is beyond
/// `tolerances` are marked.
std::string report_text(const std::vector<PointError>& errors, const Tolerances& tolerances);

/// CSV with the columns group, counter, points (all, or over: those over 1.5 x compulsory),
/// statistic and value. Statistics: count, median, ninety, worst, steady, signed, noise, covered,
/// half_width; pairs, order and size of schedule changes as shares. A figure that is not defined
/// has no row.
std::string summary_table(const std::vector<PointError>& errors);

/// Whether a counter of `errors` has a point beyond its tolerance; a prediction of more than
/// nothing where nothing was measured is beyond every one.
bool beyond(const std::vector<PointError>& errors, const Tolerances& tolerances);

/// CSV: one row a group, counter and point.
void write_error_table(std::ostream& out, const std::vector<PointError>& errors);

}  // namespace sawtooth::experiments
