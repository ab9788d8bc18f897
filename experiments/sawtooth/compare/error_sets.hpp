// Points by group and counter, as all statistics of a comparison take them.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/compare_statistics.hpp"

namespace sawtooth::experiments {

using GroupAndCounter = std::pair<std::string_view, std::string_view>;
using Errors = std::vector<const PointError*>;

/// `order`: groups by name, the counters of each in the order of their first points. The points are
/// those of the comparison, which has to outlive this.
struct ErrorSets {
  std::vector<GroupAndCounter> order;
  std::map<GroupAndCounter, Errors> points;
};
ErrorSets sets_of(const std::vector<PointError>& errors, Regime regime);

}  // namespace sawtooth::experiments
