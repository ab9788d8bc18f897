#include "experiments/sawtooth/compare/bootstrap.hpp"

#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "experiments/sawtooth/support/statistics.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int resamples = 1000;
constexpr double low_share = 0.025;
constexpr double high_share = 0.975;

Interval interval_of(const std::vector<double>& values) {
  return {quantile_of(values, low_share), quantile_of(values, high_share)};
}

}  // namespace

std::optional<ErrorIntervals> bootstrap(const Errors& points) {
  std::map<CsvRow, std::vector<double>> by_problem;
  for (const PointError* point : points) {
    if (point->relative) by_problem[problem_of(point->key)].push_back(std::abs(*point->relative));
  }
  if (by_problem.size() < 2) return std::nullopt;
  std::vector<std::vector<double>> problems;
  for (auto& [problem, sizes] : by_problem) problems.push_back(std::move(sizes));

  std::mt19937_64 random;  // a standard engine with its standard seed: the same draws everywhere
  std::vector<double> medians;
  std::vector<double> nineties;
  for (int i = 0; i < resamples; ++i) {
    std::vector<double> sizes;
    for (size_t drawn = 0; drawn < problems.size(); ++drawn) {
      const auto& problem = problems[random() % problems.size()];
      sizes.insert(sizes.end(), problem.begin(), problem.end());
    }
    const Quantiles found = quantiles_of(std::move(sizes));
    medians.push_back(found.median);
    nineties.push_back(found.ninety);
  }
  return ErrorIntervals{interval_of(medians), interval_of(nineties)};
}

}  // namespace sawtooth::experiments
