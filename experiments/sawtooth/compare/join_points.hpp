// Which predicted points and which measured ones are the same.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/sawtooth/compare/compared_points.hpp"

namespace sawtooth::experiments {

/// Places in the points of the two tables, ascending. Found by hashes, as often as there are
/// different sets of open columns on both sides: time grows with the points and the pairs.
using JoinedPairs = std::vector<std::pair<uint32_t, uint32_t>>;
JoinedPairs join_points(const ComparedPoints& predicted, const ComparedPoints& measured);

/// What keeps predicted points without a partner from the measured ones that are nearest to them:
/// columns, and how many points differ there. All are compared with all, so that of a long table
/// only the first ones are looked at.
struct ColumnsApart {
  std::map<std::string_view, size_t> points;
  size_t looked_at = 0;
};
ColumnsApart columns_apart(const ComparedPoints& predicted, const ComparedPoints& measured,
                           const std::vector<bool>& is_joined);

}  // namespace sawtooth::experiments
