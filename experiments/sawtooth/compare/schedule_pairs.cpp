#include "experiments/sawtooth/compare/schedule_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace sawtooth::experiments {
namespace {

using Points = std::span<SchedulePoint>;

constexpr auto less_measured = [](const SchedulePoint& a, const SchedulePoint& b) {
  return a.measured < b.measured;
};

double ratio(const SchedulePoint& point) {
  return point.predicted / point.measured;
}

// Of a later point `a` and an earlier one `b`.
bool differ(const SchedulePoint& a, const SchedulePoint& b) {
  const double measured = a.measured / b.measured;
  return std::max(measured, 1 / measured) > 1 + schedule_difference;
}
bool is_right_order(const SchedulePoint& a, const SchedulePoint& b) {
  return a.measured < b.measured ? a.predicted < b.predicted : a.predicted > b.predicted;
}
bool is_right_size(double ratio_a, double ratio_b) {
  return ratio_b > 0 && std::abs(ratio_a / ratio_b - 1) <= size_tolerance;
}

// How many of some places below another one were counted (Fenwick, "A new data structure for
// cumulative frequency tables", Software: Practice and Experience 24(3), 1994).
class CountsBelow {
 public:
  explicit CountsBelow(size_t places) : sums_(places + 1) {}
  void add(size_t place) {
    for (++place; place < sums_.size(); place += place & (~place + 1)) ++sums_[place];
  }
  size_t below(size_t place) const {
    size_t sum = 0;
    for (; place > 0; place &= place - 1) sum += sums_[place];
    return sum;
  }

 private:
  std::vector<uint32_t> sums_;
};

// Pairs of earlier and later points. Those that a later one differs from are a growing part of the
// earlier ones when both are walked from one end of the measured values.
class CrossPairs {
 public:
  explicit CrossPairs(Points earlier) : earlier_(earlier) {
    for (const SchedulePoint& point : earlier) {
      predicted_.push_back(point.predicted);
      ratios_.push_back(ratio(point));
    }
    std::ranges::sort(predicted_);
    std::ranges::sort(ratios_);
  }

  PairCounts count(Points later) const {
    PairCounts counts;
    walk<true>(earlier_.begin(), earlier_.end(), later.begin(), later.end(), counts);
    walk<false>(earlier_.rbegin(), earlier_.rend(), later.rbegin(), later.rend(), counts);
    return counts;
  }

 private:
  // Of points `a` with those that are measured below them (`above`), or above.
  template <bool above, class Iterator>
  void walk(Iterator b, Iterator b_end, Iterator a, Iterator a_end, PairCounts& counts) const {
    CountsBelow by_predicted(predicted_.size()), by_ratio(ratios_.size());
    size_t taken = 0;
    for (; a != a_end; ++a) {
      const auto is_beyond = [&] {
        return (above ? less_measured(*b, *a) : less_measured(*a, *b)) && differ(*a, *b);
      };
      for (; b != b_end && is_beyond(); ++b, ++taken) {
        by_predicted.add(place(std::ranges::lower_bound(predicted_, b->predicted), predicted_));
        by_ratio.add(place(std::ranges::lower_bound(ratios_, ratio(*b)), ratios_));
      }
      counts.pairs += taken;
      counts.right_order +=
          above ? by_predicted.below(
                      place(std::ranges::lower_bound(predicted_, a->predicted), predicted_))
                : taken - by_predicted.below(place(
                              std::ranges::upper_bound(predicted_, a->predicted), predicted_));
      counts.right_size += within_size(ratio(*a), by_ratio);
    }
  }

  size_t within_size(double ratio_a, const CountsBelow& by_ratio) const {
    const auto first = std::ranges::partition_point(ratios_, [&](double ratio_b) {
      return ratio_b <= 0 || ratio_a / ratio_b - 1 > size_tolerance;
    });
    const auto last = std::ranges::partition_point(ratios_, [&](double ratio_b) {
      return ratio_b <= 0 || ratio_a / ratio_b - 1 >= -size_tolerance;
    });
    return by_ratio.below(place(last, ratios_)) - by_ratio.below(place(first, ratios_));
  }

  static size_t place(std::vector<double>::const_iterator at, const std::vector<double>& of) {
    return static_cast<size_t>(at - of.begin());
  }

  Points earlier_;
  std::vector<double> predicted_, ratios_;  // of these, sorted
};

// Counts all pairs, and sorts the points by what was measured.
PairCounts count_and_sort(Points points) {
  constexpr size_t few = 32;
  PairCounts counts;
  if (points.size() <= few) {
    for (size_t i = 0; i < points.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!differ(points[i], points[j])) continue;
        ++counts.pairs;
        if (is_right_order(points[i], points[j])) ++counts.right_order;
        if (is_right_size(ratio(points[i]), ratio(points[j]))) ++counts.right_size;
      }
    }
    std::ranges::sort(points, less_measured);
    return counts;
  }
  const size_t half = points.size() / 2;
  counts += count_and_sort(points.first(half));
  counts += count_and_sort(points.subspan(half));
  counts += CrossPairs(points.first(half)).count(points.subspan(half));
  std::ranges::inplace_merge(points, points.begin() + static_cast<std::ptrdiff_t>(half),
                             less_measured);
  return counts;
}

}  // namespace

PairCounts& PairCounts::operator+=(const PairCounts& more) {
  pairs += more.pairs;
  right_order += more.right_order;
  right_size += more.right_size;
  return *this;
}

PairCounts count_pairs(std::vector<SchedulePoint> points) {
  std::erase_if(points, [](const SchedulePoint& point) { return point.measured <= 0; });
  return count_and_sort(points);
}

}  // namespace sawtooth::experiments
