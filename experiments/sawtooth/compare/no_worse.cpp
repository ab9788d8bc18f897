#include <algorithm>
#include <map>
#include <set>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/point_table.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

CsvRow key_of(const PointTable& table, const ComparedPoint& point) {
  CsvRow key;
  for (size_t i = 0; i <= system_place; ++i) key.emplace_back(table.cell(point, i));
  return key;
}

// The points of `table` that have one of `counters`.
std::vector<const ComparedPoint*> points_with(const PointTable& table,
                                              const std::vector<std::string_view>& counters) {
  std::vector<const ComparedPoint*> found;
  for (const ComparedPoint& point : table.points()) {
    const auto has = [&](std::string_view name) { return !table.values(point, name).empty(); };
    if (std::ranges::any_of(counters, has)) found.push_back(&point);
  }
  return found;
}

// "seq ...: l2_read_miss_sectors rose from 100 to 150 (x 1.50)", or nothing where it did not.
std::string rise_of(std::string_view counter, std::vector<double> now, std::vector<double> then,
                    const Tolerances& tolerances) {
  if (now.empty() || then.empty()) return {};
  const double after = median_of(std::move(now)), before = median_of(std::move(then));
  if (after <= before * (1 + tolerances.of(counter).value_or(0))) return {};
  return std::string(counter) + " rose from " + fixed(before, 0) + " to " + fixed(after, 0) +
         (before > 0 ? std::string(" (x ").append(fixed(after / before, 2)).append(")") : "");
}

}  // namespace

NoWorse compare_with_kept(const CsvTable& predicted_table, const CsvTable& kept_table,
                          const std::vector<std::string_view>& counters,
                          const Tolerances& tolerances) {
  const PointTable predicted(predicted_table, Side::predicted);
  const PointTable kept(kept_table, Side::predicted);
  const auto kept_points = points_with(kept, counters);
  std::map<std::string, std::vector<const ComparedPoint*>> by_key, by_problem;
  for (const ComparedPoint* point : kept_points) {
    by_key[csv_line(key_of(kept, *point))].push_back(point);
    by_problem[problem_of(key_of(kept, *point))].push_back(point);
  }
  NoWorse result;
  std::set<const ComparedPoint*> seen;
  for (const ComparedPoint* point : points_with(predicted, counters)) {
    auto partners = by_key.find(csv_line(key_of(predicted, *point)));
    if (partners == by_key.end()) {
      partners = by_problem.find(problem_of(key_of(predicted, *point)));
      if (partners == by_problem.end()) continue;  // a new problem has nothing to be held against
      if (partners->second.size() > 1)
        throw UsageError(kept_table.path + ": has " + std::to_string(partners->second.size()) +
                         " schedules of the problem of " + predicted.place_of(*point) +
                         ", none of which is its own; allowed: one, or the same");
    }
    const ComparedPoint& partner = *partners->second.back();
    if (point->model != partner.model)
      throw UsageError(predicted.place_of(*point) + ": the model (timing, l2, l2_bytes) is not " +
                       "that of " + kept.place_of(partner) + "; make both with one model");
    seen.insert(&partner);
    ++result.compared;
    for (const std::string_view counter : counters) {
      const std::string rise = rise_of(counter, predicted.values(*point, counter),
                                       kept.values(partner, counter), tolerances);
      if (!rise.empty()) result.worse.push_back(name_of(key_of(predicted, *point)) + ": " + rise);
    }
  }
  for (const ComparedPoint* point : kept_points)
    if (!seen.contains(point))
      result.missing.push_back(name_of(key_of(kept, *point)) + ": " + kept.place_of(*point) +
                               " has no new prediction");
  return result;
}

}  // namespace sawtooth::experiments
