// Joins two tables with the columns of results.csv and computes the errors of every counter.
//
// Rows join when gpu, kernel family (the name up to its first '-'), pass, all problem and schedule
// columns and state agree. A prediction without a kernel stands for every kernel, and an empty cell
// of a published row means "not published" and agrees with everything. Rows of one side that agree
// in all of these are repetitions, of which the medians are compared. Predictions with different
// timing, l2 or model are groups of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/csv.hpp"

namespace sawtooth::experiments {

/// Relative error of one counter at one joined pair of points.
struct PointError {
  std::string group;  // "timing l2 model" of the prediction
  std::string counter;
  CsvRow key;  // the cells of join_columns(), the measured ones where a prediction leaves them open
  double predicted = 0;
  double measured = 0;
  double relative = 0;  // (predicted - measured) / measured; infinite when only measured is 0
};

struct Comparison {
  std::vector<PointError> errors;
  size_t predicted_points = 0;  // after medians
  size_t measured_points = 0;
  size_t predicted_alone = 0;  // of these, without a partner
  size_t measured_alone = 0;
};

/// The errors of one counter over the points of a group.
struct ErrorSummary {
  std::string group;
  std::string counter;
  size_t points = 0;
  double median = 0;         // of |error|
  double ninety = 0;         // 90 % of the points have at most this |error| (nearest rank)
  double worst = 0;          // largest |error|
  double signed_median = 0;  // of the error itself: above 0 the model predicts too much
};

std::vector<std::string_view> join_columns();
/// The columns that can be compared: counters, time_us and tflops.
std::vector<std::string_view> comparable_columns();

/// Compares `counters` where both sides have a value; throws UsageError with file and line for a
/// missing column or a cell that is no number.
Comparison compare_tables(const CsvTable& predicted, const CsvTable& measured,
                          const std::vector<std::string>& counters);

std::vector<ErrorSummary> summarise(const std::vector<PointError>& errors);

/// Median of at least one value; the mean of the two in the middle of an even number.
double median_of(std::vector<double> values);

}  // namespace sawtooth::experiments
