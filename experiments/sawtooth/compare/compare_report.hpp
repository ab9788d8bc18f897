// What `sawtooth compare` prints, and its table of every point.
#pragma once

#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/tolerances.hpp"

namespace sawtooth::experiments {

/// Errors by group, regime and counter; changes of schedule; skill where `baselines` has points.
/// Counters whose worst error is beyond `tolerances` are marked.
std::string report_text(const std::vector<PointError>& errors,
                        const std::vector<PointError>& baselines, const Tolerances& tolerances);

/// Whether a counter of `errors` has a point beyond its tolerance; a prediction of more than
/// nothing where nothing was measured is beyond every one.
bool beyond(const std::vector<PointError>& errors, const Tolerances& tolerances);

/// CSV: one row a group, counter and point.
void write_error_table(std::ostream& out,
                       std::initializer_list<const std::vector<PointError>*> lists);

}  // namespace sawtooth::experiments
