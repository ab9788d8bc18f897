// How far the figures of a list depend on which problems happened to be drawn into it: intervals by
// the bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13).
#pragma once

#include <optional>

#include "experiments/sawtooth/compare/error_sets.hpp"

namespace sawtooth::experiments {

/// 2.5 and 97.5 % of a figure over resamples.
struct Interval {
  double low;
  double high;
};
struct ErrorIntervals {
  Interval median;
  Interval ninety;
};
/// Problems are drawn with replacement, each with all of its schedules, as these err together. The
/// same points give the same intervals. Nothing for fewer than two problems with an error.
std::optional<ErrorIntervals> bootstrap(const Errors& points);

}  // namespace sawtooth::experiments
