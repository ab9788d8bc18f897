// What the errors of many points say of a model: their size, whether it ranks points and changes of
// schedule rightly, and whether it is worth more than a simple rule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/schedule_pairs.hpp"

namespace sawtooth::experiments {

/// A point is over compulsory when its measured DRAM reads are over this many times the compulsory
/// ones: there the order of work matters.
inline constexpr double over_compulsory_factor = 1.5;
/// A point is steady when its launches differ by less than this share.
inline constexpr double steady_spread = 0.05;

enum class Regime { all, over_compulsory };
bool belongs(const PointError& error, Regime regime);

/// The errors of one counter over the points of a group. None is forgiven: what launches differ by
/// among themselves stands beside them, as noise.
struct ErrorSummary {
  std::string group;
  std::string counter;
  size_t points = 0;
  size_t undefined = 0;           // measured 0, predicted more: no relative error
  double most_undefined = 0;      // the largest prediction of these, which are in none of:
  double median = 0;              // of |error|
  double ninety = 0;              // 90 % of the points have at most this |error| (nearest rank)
  double worst = 0;               // largest |error|
  double worst_steady = 0;        // the same over points whose launches differ by less than 5 %
  double signed_median = 0;       // of the error itself: above 0 the model predicts too much
  std::optional<double> noise{};  // median of PointError::noise() over the points that have it
  std::optional<double> rank{};   // rank_correlation() of predicted and measured
  // Over points whose prediction has an interval: the share of them that are measured inside, and
  // the median of (high - low) / (2 predicted).
  std::optional<double> covered{};
  std::optional<double> half_width{};

  bool has_figures() const { return points > undefined; }
};

/// The median and the 90 % mark (nearest rank) of sizes of errors, at least one.
struct Quantiles {
  double median;
  double ninety;
};
Quantiles quantiles_of(std::vector<double> sizes);
/// Where the 90 % mark stands among `count` sorted values.
size_t place_of_ninety(size_t count);

/// Groups in the order of their names, counters in the order of their first points.
std::vector<ErrorSummary> summarise(const std::vector<PointError>& errors,
                                    Regime regime = Regime::all);

/// Spearman's rho: the correlation of the ranks, equal values share their mean rank. Nothing for
/// fewer than two pairs or when one side is constant.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

/// How changes of schedule are predicted, over all pairs of points of one gpu, kernel, problem and
/// state.
struct ScheduleChanges {
  std::string group;
  std::string counter;
  PairCounts counts{};
};
std::vector<ScheduleChanges> schedule_changes(const std::vector<PointError>& errors);

/// What a model adds to a baseline at one counter: 1 - e / e0, where e and e0 are the mean of
/// |ln(predicted / measured)| of model and baseline over the points that both have. 1 is
/// perfect, 0 no better than the baseline.
struct Skill {
  std::string group;
  std::string baseline;
  std::string counter;
  size_t points = 0;
  double error = 0;           // e
  double baseline_error = 0;  // e0
  double value() const { return 1 - error / baseline_error; }
};
/// One a group, counter and baseline that has points in common, of a counter the best baseline (the
/// smallest e0) first; baselines that make no error at all are left out.
std::vector<Skill> skills(const std::vector<PointError>& errors,
                          const std::vector<PointError>& baselines, Regime regime = Regime::all);

}  // namespace sawtooth::experiments
