#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/support/statistics.hpp"

namespace sawtooth::experiments {
namespace {

using Errors = std::vector<const PointError*>;
using GroupAndCounter = std::pair<std::string_view, std::string_view>;

// Groups by name, the counters of each in the order of their first points.
std::vector<std::pair<GroupAndCounter, Errors>> sets_of(const std::vector<PointError>& errors,
                                                        Regime regime) {
  std::vector<std::pair<GroupAndCounter, Errors>> sets;
  std::map<GroupAndCounter, size_t> places;
  for (const PointError& error : errors) {
    if (regime == Regime::over_compulsory &&
        !(error.point->over_compulsory > over_compulsory_factor))
      continue;
    const GroupAndCounter name{error.point->group, error.counter};
    const auto [place, is_new] = places.try_emplace(name, sets.size());
    if (is_new) sets.push_back({name, {}});
    sets[place->second].second.push_back(&error);
  }
  std::ranges::stable_sort(sets, {}, [](const auto& set) { return set.first.first; });
  return sets;
}

ErrorSummary summary_of(const GroupAndCounter& name, const Errors& errors) {
  ErrorSummary summary{.group = std::string(name.first), .counter = std::string(name.second)};
  summary.points = errors.size();
  std::vector<double> sizes, with_sign, noise, half_widths;
  double inside = 0;
  for (const PointError* error : errors) {
    if (error->launches.noise) noise.push_back(*error->launches.noise);
    if (const auto& interval = error->interval) {
      if (interval->low <= error->measured && error->measured <= interval->high) ++inside;
      half_widths.push_back((interval->high - interval->low) / (2 * error->predicted));
    }
    const auto relative = error->relative();
    if (!relative) {
      ++summary.undefined;
      summary.most_undefined = std::max(summary.most_undefined, error->predicted);
      continue;
    }
    with_sign.push_back(*relative);
    sizes.push_back(std::abs(*relative));
    if (error->spread() < steady_spread)
      summary.worst_steady = std::max(summary.worst_steady, sizes.back());
  }
  if (!noise.empty()) summary.noise = median_of(std::move(noise));
  if (!half_widths.empty()) {
    summary.covered = inside / static_cast<double>(half_widths.size());
    summary.half_width = median_of(std::move(half_widths));
  }
  if (summary.has_figures()) {
    summary.ninety = nearest_rank(sizes, ninety_share);
    summary.worst = *std::ranges::max_element(sizes);
    summary.median = median_of(std::move(sizes));
    summary.signed_median = median_of(std::move(with_sign));
  }
  return summary;
}

// Counts the pairs of `later` with the points before it.
void count_pairs(const Errors& before, const PointError& later, ScheduleChanges& changes) {
  for (const PointError* earlier : before) {
    const double measured = later.measured / earlier->measured;
    if (std::max(measured, 1 / measured) <= 1 + schedule_difference) continue;
    ++changes.pairs;
    if ((later.measured - earlier->measured) * (later.predicted - earlier->predicted) > 0)
      ++changes.right_order;
    const double ratio = later.predicted / later.measured;
    const double ratio_before = earlier->predicted / earlier->measured;
    if (ratio_before > 0 && std::abs(ratio / ratio_before - 1) <= size_tolerance)
      ++changes.right_size;
  }
}

}  // namespace

std::vector<ErrorSummary> summarise(const std::vector<PointError>& errors, Regime regime) {
  std::vector<ErrorSummary> summaries;
  for (const auto& [name, points] : sets_of(errors, regime))
    summaries.push_back(summary_of(name, points));
  return summaries;
}

std::vector<ScheduleChanges> schedule_changes(const std::vector<PointError>& errors) {
  std::vector<ScheduleChanges> all;
  for (const auto& [name, points] : sets_of(errors, Regime::all)) {
    ScheduleChanges changes{.group = std::string(name.first), .counter = std::string(name.second)};
    std::unordered_map<std::string, Errors> problems;
    for (const PointError* error : points) {
      if (error->measured <= 0) continue;
      Errors& before = problems[error->point->problem];
      count_pairs(before, *error, changes);
      before.push_back(error);
    }
    if (changes.pairs > 0) all.push_back(std::move(changes));
  }
  return all;
}

}  // namespace sawtooth::experiments
