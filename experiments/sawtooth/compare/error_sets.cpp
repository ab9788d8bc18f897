#include "experiments/sawtooth/compare/error_sets.hpp"

#include <algorithm>

namespace sawtooth::experiments {

namespace {

// Whether both are one text in one place; equal ones may be elsewhere.
bool is_same(std::string_view a, std::string_view b) {
  return a.data() == b.data() && a.size() == b.size();
}

}  // namespace

ErrorSets sets_of(const std::vector<PointError>& errors, Regime regime) {
  ErrorSets sets;
  std::string_view group;
  std::vector<std::pair<std::string_view, Errors*>> of_group;  // of the errors just before
  for (const PointError& error : errors) {
    if (!belongs(error, regime)) continue;
    if (!is_same(group, error.point->group)) of_group.clear();
    group = error.point->group;
    auto known = std::ranges::find_if(
        of_group, [&](const auto& set) { return is_same(set.first, error.counter); });
    if (known == of_group.end()) {
      const auto [set, is_new] = sets.points.try_emplace({group, error.counter});
      if (is_new) sets.order.emplace_back(set->first);
      known = of_group.emplace(of_group.end(), error.counter, &set->second);
    }
    known->second->push_back(&error);
  }
  std::stable_sort(sets.order.begin(), sets.order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return sets;
}

}  // namespace sawtooth::experiments
