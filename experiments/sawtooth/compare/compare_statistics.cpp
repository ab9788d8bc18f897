#include "experiments/sawtooth/compare/compare_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "experiments/sawtooth/compare/error_sets.hpp"
#include "experiments/sawtooth/support/statistics.hpp"

namespace sawtooth::experiments {
namespace {

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = static_cast<double>(begin + end - 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = mean;
  }
  return ranks;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// |ln(predicted / measured)|, or nothing where it has no meaning.
std::optional<double> log_error(const PointError& error) {
  if (error.predicted <= 0 || error.measured <= 0) return std::nullopt;
  return std::abs(std::log(error.predicted / error.measured));
}

Skill skill_over(const Errors& model, const Errors& baseline) {
  std::unordered_map<uint32_t, double> by_key;
  for (const PointError* error : baseline) {
    if (const auto size = log_error(*error)) by_key[error->point->key.number()] = *size;
  }
  std::vector<double> ours;
  std::vector<double> theirs;
  for (const PointError* error : model) {
    const auto partner = by_key.find(error->point->key.number());
    const auto size = log_error(*error);
    if (partner == by_key.end() || !size) continue;
    ours.push_back(*size);
    theirs.push_back(partner->second);
  }
  if (ours.empty()) return {};
  return {"", "", "", ours.size(), mean_of(ours), mean_of(theirs)};
}

}  // namespace

size_t place_of_ninety(size_t count) {
  constexpr double ninety_percent = 0.9;
  return static_cast<size_t>(std::ceil(ninety_percent * static_cast<double>(count))) - 1;
}

Quantiles quantiles_of(std::vector<double> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const double ninety = sizes[place_of_ninety(sizes.size())];
  return {median_of(std::move(sizes)), ninety};
}

bool belongs(const PointError& error, Regime regime) {
  return regime == Regime::all || error.point->over_compulsory > over_compulsory_factor;
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.size() < 2) return std::nullopt;
  const auto ranks_a = ranks_of(a);
  const auto ranks_b = ranks_of(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double product = 0;
  double square_a = 0;
  double square_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    square_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    square_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  if (square_a == 0 || square_b == 0) return std::nullopt;
  return product / std::sqrt(square_a * square_b);
}

std::vector<ErrorSummary> summarise(const std::vector<PointError>& errors, Regime regime) {
  const ErrorSets sets = sets_of(errors, regime);
  std::vector<ErrorSummary> summaries;
  for (const GroupAndCounter& name : sets.order) {
    ErrorSummary summary{.group = std::string(name.first), .counter = std::string(name.second)};
    std::vector<double> sizes, with_sign, predicted, measured, noise, inside, half_widths;
    for (const PointError* error : sets.points.at(name)) {
      ++summary.points;
      predicted.push_back(error->predicted);
      measured.push_back(error->measured);
      if (const auto of_launches = error->noise()) noise.push_back(*of_launches);
      if (const PredictedInterval* interval = error->interval) {
        inside.push_back(interval->low <= error->measured && error->measured <= interval->high);
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
      if (error->spread() < steady_spread) {
        summary.worst_steady = std::max(summary.worst_steady, sizes.back());
      }
    }
    summary.rank = rank_correlation(predicted, measured);
    if (!noise.empty()) summary.noise = median_of(std::move(noise));
    if (!inside.empty()) {
      summary.covered = mean_of(inside);
      summary.half_width = median_of(std::move(half_widths));
    }
    if (summary.has_figures()) {
      const Quantiles quantiles = quantiles_of(sizes);
      summary.median = quantiles.median;
      summary.ninety = quantiles.ninety;
      summary.worst = *std::max_element(sizes.begin(), sizes.end());
      summary.signed_median = median_of(with_sign);
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::vector<ScheduleChanges> schedule_changes(const std::vector<PointError>& errors) {
  const ErrorSets sets = sets_of(errors, Regime::all);
  std::vector<ScheduleChanges> all;
  for (const GroupAndCounter& name : sets.order) {
    ScheduleChanges changes{.group = std::string(name.first), .counter = std::string(name.second)};
    std::unordered_map<uint32_t, std::vector<SchedulePoint>> problems;
    for (const PointError* error : sets.points.at(name))
      problems[error->point->key.problem()].push_back({error->predicted, error->measured});
    for (auto& [problem, points] : problems) changes.counts += count_pairs(std::move(points));
    if (changes.counts.pairs > 0) all.push_back(std::move(changes));
  }
  return all;
}

std::vector<Skill> skills(const std::vector<PointError>& errors,
                          const std::vector<PointError>& baselines, Regime regime) {
  const ErrorSets models = sets_of(errors, regime);
  const ErrorSets rivals = sets_of(baselines, regime);
  std::vector<Skill> all;
  for (const GroupAndCounter& name : models.order) {
    std::vector<Skill> found;
    for (const GroupAndCounter& rival : rivals.order) {
      if (rival.second != name.second) continue;
      Skill skill = skill_over(models.points.at(name), rivals.points.at(rival));
      if (skill.points == 0 || skill.baseline_error == 0) continue;
      skill.group = name.first;
      skill.counter = name.second;
      skill.baseline = rival.first;
      found.push_back(std::move(skill));
    }
    std::stable_sort(found.begin(), found.end(), [](const Skill& a, const Skill& b) {
      return a.baseline_error < b.baseline_error;
    });
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

}  // namespace sawtooth::experiments
