#include "experiments/sawtooth/compare/error_sets.hpp"

#include <algorithm>

namespace sawtooth::experiments {

ErrorSets sets_of(const std::vector<PointError>& errors, Regime regime) {
  ErrorSets sets;
  for (const PointError& error : errors) {
    if (!belongs(error, regime)) continue;
    const auto [set, is_new] = sets.points.try_emplace({error.group, error.counter});
    if (is_new) sets.order.emplace_back(error.group, error.counter);
    set->second.push_back(&error);
  }
  std::stable_sort(sets.order.begin(), sets.order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return sets;
}

CsvRow problem_of(const CsvRow& key) {
  CsvRow problem = key;
  const auto at = [&](std::string_view name) {
    return problem.begin() + static_cast<std::ptrdiff_t>(join_column(name));
  };
  problem.erase(at("tile_q"), at("lse") + 1);
  return problem;
}

}  // namespace sawtooth::experiments
