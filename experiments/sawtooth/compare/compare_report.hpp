// What `sawtooth compare` prints, the same as a table for scripts, and its table of every point.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/option_values.hpp"

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

// What the errors of many points say of a model: their size, and whether it predicts changes of
// schedule rightly.

/// A point is over compulsory when its measured DRAM reads are over this many times the compulsory
/// ones: there the order of work matters.
inline constexpr double over_compulsory_factor = 1.5;
/// A point is steady when its launches differ by less than this share.
inline constexpr double steady_spread = 0.05;
/// Two schedules of one problem differ when one measures more than this share above the other.
inline constexpr double schedule_difference = 0.10;
/// The size of a change is right when predicted and measured ratio agree within this share.
inline constexpr double size_tolerance = 0.10;

enum class Regime { all, over_compulsory };

/// The errors of one counter over the points of a group. None is forgiven: what launches differ by
/// among themselves stands beside them, as noise.
struct ErrorSummary {
  std::string group, counter;
  size_t points = 0;
  size_t undefined = 0;           // measured 0, predicted more: no relative error
  double most_undefined = 0;      // the largest prediction of these, which are in none of:
  double median = 0;              // of |error|
  double ninety = 0;              // 90 % of the points have at most this |error| (nearest rank)
  double worst = 0;               // largest |error|
  double worst_steady = 0;        // the same over points whose launches differ by less than 5 %
  double signed_median = 0;       // of the error itself: above 0 the model predicts too much
  std::optional<double> noise{};  // median of LaunchSpread::noise over the points that have it
  // Over points whose prediction has an interval: the share of them that are measured inside, and
  // the median of (high - low) / (2 predicted).
  std::optional<double> covered{}, half_width{};

  bool has_figures() const { return points > undefined; }
};

/// Groups in the order of their names, counters in the order of their first points.
std::vector<ErrorSummary> summarise(const std::vector<PointError>& errors,
                                    Regime regime = Regime::all);

/// How changes of schedule are predicted, over all pairs of points of one gpu, kernel, problem and
/// state. What was measured as 0 is in no pair.
struct ScheduleChanges {
  std::string group, counter;
  size_t pairs = 0;  // whose measured values differ by more than schedule_difference; of these:
  size_t right_order = 0;  // the smaller one is predicted smaller; equal predictions are wrong
  size_t right_size = 0;   // the predicted ratio is within size_tolerance of the measured one
};
/// Those that have pairs, in the order of summarise().
std::vector<ScheduleChanges> schedule_changes(const std::vector<PointError>& errors);

}  // namespace sawtooth::experiments
