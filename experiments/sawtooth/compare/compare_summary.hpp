// What `sawtooth compare` prints, as a table for scripts.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/compare/compare.hpp"

namespace sawtooth::experiments {

/// CSV with the columns group, counter, points (all, or over: those over 1.5 x compulsory),
/// statistic, against (the baseline of a skill) and value. Statistics: count, median, ninety,
/// worst, steady, signed, rank; pairs, order and size of schedule changes as shares; skill.
/// Baselines have rows too. A figure that is not defined has no row.
std::string summary_table(const std::vector<PointError>& errors,
                          const std::vector<PointError>& baselines);

}  // namespace sawtooth::experiments
