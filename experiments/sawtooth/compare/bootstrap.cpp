#include "experiments/sawtooth/compare/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>

#include "experiments/sawtooth/support/statistics.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t most_resamples = 1000;
constexpr size_t least_resamples = 100;
constexpr size_t most_draws = 20'000'000;  // of problems, of very long lists
constexpr double low_interval_share = 0.025;
constexpr double high_interval_share = 0.975;

Interval interval_of(const std::vector<double>& values) {
  return {quantile_of(values, low_interval_share), quantile_of(values, high_interval_share)};
}

struct Size {
  double value;
  uint32_t problem;  // by rank
};

// Sizes of errors, ascending, and how many each problem has, problems in the order of their cells.
struct SizesOfProblems {
  std::vector<Size> sizes;
  std::vector<uint32_t> counts;

  explicit SizesOfProblems(const Errors& points) {
    std::vector<uint32_t> problems;
    for (const PointError* point : points) {
      const auto relative = point->relative();
      if (!relative) continue;
      sizes.push_back({std::abs(*relative), point->point->key.problem()});
      problems.push_back(sizes.back().problem);
    }
    std::ranges::sort(problems);
    problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
    counts.resize(problems.size());
    if (problems.empty()) return;
    const PointKeys& keys = points.front()->point->key.keys();
    std::ranges::sort(problems, [&](uint32_t a, uint32_t b) { return keys.is_before(a, b); });
    std::unordered_map<uint32_t, uint32_t> ranks;
    for (const uint32_t problem : problems)
      ranks.emplace(problem, static_cast<uint32_t>(ranks.size()));
    for (Size& size : sizes) ++counts[size.problem = ranks.at(size.problem)];
    std::ranges::sort(sizes, {}, &Size::value);
  }
};

// The median and the 90 % mark of sizes of which each is there as often as its problem was drawn.
Quantiles quantiles_of_draw(const std::vector<Size>& sizes, const std::vector<uint32_t>& drawn,
                            size_t total) {
  const QuantilePlace middle(total, median_share);
  std::vector<double> found;
  size_t seen = 0;
  auto size = sizes.begin();
  for (const size_t place : {middle.below(), middle.above(), place_of_ninety(total)}) {
    for (; seen + drawn[size->problem] <= place; ++size) seen += drawn[size->problem];
    found.push_back(size->value);
  }
  return {middle.value(found[0], found[1]), found[2]};
}

}  // namespace

std::optional<ErrorIntervals> bootstrap(const Errors& points) {
  const SizesOfProblems all(points);
  const size_t problems = all.counts.size();
  if (problems < 2) return std::nullopt;
  std::mt19937_64 random;  // a standard engine with its standard seed: the same draws everywhere
  std::vector<double> medians;
  std::vector<double> nineties;
  const size_t resamples = std::clamp(most_draws / problems, least_resamples, most_resamples);
  for (size_t i = 0; i < resamples; ++i) {
    std::vector<uint32_t> drawn(problems);
    size_t total = 0;
    for (size_t draw = 0; draw < problems; ++draw) {
      const size_t problem = random() % problems;
      ++drawn[problem];
      total += all.counts[problem];
    }
    const Quantiles found = quantiles_of_draw(all.sizes, drawn, total);
    medians.push_back(found.median);
    nineties.push_back(found.ninety);
  }
  return ErrorIntervals{interval_of(medians), interval_of(nineties)};
}

}  // namespace sawtooth::experiments
