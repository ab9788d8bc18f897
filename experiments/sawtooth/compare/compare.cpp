#include "experiments/sawtooth/compare/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view dram_reads = "dram_read_sectors";
constexpr std::string_view compulsory_reads = "cold_read_sectors";
constexpr double low_share = 0.05;
constexpr double high_share = 0.95;
// Pairs of points that the search for the nearest ones looks at: about a second.
constexpr size_t most_pairs_looked_at = size_t{4} << 20;

std::optional<double> relative_error(double predicted, double measured) {
  if (measured != 0) return (predicted - measured) / measured;
  return predicted == 0 ? std::optional<double>(0.0) : std::nullopt;
}

std::optional<double> noise_of(std::vector<double> launches) {
  std::vector<double> errors;
  std::ranges::sort(launches);
  for (size_t i = 0; i < launches.size(); ++i) {
    const auto other = [&](size_t k) { return launches[k < i ? k : k + 1]; };
    const size_t others = launches.size() - 1;
    const double median = median_of({other((others - 1) / 2), other(others / 2)});
    const auto error = relative_error(median, launches[i]);
    if (!error) return std::nullopt;
    errors.push_back(std::abs(*error));
  }
  return median_of(std::move(errors));
}

LaunchSpread spread_of(const std::vector<double>& launches) {
  if (launches.size() == 1) return {1, launches.front(), launches.front()};
  return {launches.size(), quantile_of(launches, low_share), quantile_of(launches, high_share),
          noise_of(launches)};
}

// The columns in which two points differ, system's among them.
ColumnBits differences(const PointTable& predicted, const ComparedPoint& p,
                       const PointTable& measured, const ComparedPoint& m) {
  ColumnBits apart = 0;
  for (size_t i = 0; i <= system_place; ++i)
    apart |= ColumnBits{predicted.cell(p, i) != measured.cell(m, i)} << i;
  apart &= ~(p.open | m.open);
  constexpr size_t gpu = join_column("gpu");
  if (predicted.cell(p, gpu).empty()) apart |= ColumnBits{1} << gpu;
  // What was measured from outside is that system's, not any kernel's of the same problem.
  constexpr size_t launch = join_column("launch");
  if (measured.cell(m, launch).empty() && measured.source(m) != "published" &&
      !predicted.cell(p, launch).empty() &&
      predicted.cell(p, system_place) != measured.cell(m, system_place))
    apart |= ColumnBits{1} << system_place;
  return apart;
}

std::string key_without(const PointTable& table, const ComparedPoint& point, ColumnBits open) {
  CsvRow key;
  for (size_t i = 0; i <= system_place; ++i)
    key.emplace_back(open >> i & 1 ? std::string_view() : table.cell(point, i));
  return csv_line(key);
}

// Places of points by their open columns: there are few different sets of these.
std::map<ColumnBits, std::vector<size_t>> by_open_columns(const PointTable& table) {
  std::map<ColumnBits, std::vector<size_t>> places;
  for (size_t place = 0; place < table.points().size(); ++place)
    places[table.points()[place].open].push_back(place);
  return places;
}

// Places in both tables, ascending.
std::vector<std::pair<size_t, size_t>> join(const PointTable& predicted,
                                            const PointTable& measured) {
  std::vector<std::pair<size_t, size_t>> pairs;
  const auto ours = by_open_columns(predicted);
  for (const auto& [their_open, m_places] : by_open_columns(measured)) {
    for (const auto& [our_open, p_places] : ours) {
      const ColumnBits open = our_open | their_open;
      std::unordered_multimap<std::string, size_t> by_key;
      for (const size_t m : m_places)
        by_key.emplace(key_without(measured, measured.points()[m], open), m);
      for (const size_t p : p_places) {
        const ComparedPoint& point = predicted.points()[p];
        const auto [begin, end] = by_key.equal_range(key_without(predicted, point, open));
        for (auto at = begin; at != end; ++at)
          if (differences(predicted, point, measured, measured.points()[at->second]) == 0)
            pairs.emplace_back(p, at->second);
      }
    }
  }
  std::ranges::sort(pairs);
  return pairs;
}

void find_columns_apart(const PointTable& predicted, const PointTable& measured,
                        const std::vector<bool>& is_joined, Comparison& comparison) {
  if (measured.points().empty()) return;
  const size_t most = std::max<size_t>(1, most_pairs_looked_at / measured.points().size());
  for (size_t place = 0; place < is_joined.size() && comparison.looked_at < most; ++place) {
    if (is_joined[place]) continue;
    ++comparison.looked_at;
    const ComparedPoint& p = predicted.points()[place];
    ColumnBits least = 0;
    const ComparedPoint* nearest = nullptr;
    for (const ComparedPoint& m : measured.points()) {
      const ColumnBits apart = differences(predicted, p, measured, m);
      if (nearest == nullptr || std::popcount(apart) < std::popcount(least)) {
        least = apart;
        nearest = &m;
      }
      if (std::has_single_bit(least)) break;
    }
    for (size_t i = 0; i <= system_place; ++i) {
      if ((least >> i & 1) == 0) continue;
      auto& [points, cells] = comparison.apart[i == system_place ? "system" : join_columns()[i]];
      const std::string ours(predicted.cell(p, i)), theirs(measured.cell(*nearest, i));
      if (++points == 1)
        cells = ours.empty()     ? "is empty in " + predicted.path()
                : theirs.empty() ? "is empty in " + measured.path()
                                 : ours + ", not " + theirs;
    }
  }
}

// What launches of a point have in a column, for all predictions of it.
struct MeasuredColumn {
  double median = 0;
  LaunchSpread launches;
};
using MeasuredColumns =
    std::map<std::pair<const ComparedPoint*, std::string_view>, std::optional<MeasuredColumn>>;

void add_errors(const PointTable& predicted, const ComparedPoint& p, const PointTable& measured,
                const ComparedPoint& m, const std::vector<std::string_view>& counters,
                MeasuredColumns& known, Comparison& comparison) {
  JoinedPoint& point = comparison.joined.emplace_back(JoinedPoint{p.group, {}, {}});
  for (size_t i = 0; i < join_column_count; ++i) {
    const std::string_view cell = measured.cell(m, i);
    point.key.emplace_back(cell.empty() ? predicted.cell(p, i) : cell);
  }
  point.problem = problem_of(point.key);
  const auto median_in = [](const PointTable& table, const ComparedPoint& of,
                            std::string_view column) -> std::optional<double> {
    std::vector<double> values = table.values(of, column);
    if (values.empty()) return std::nullopt;
    return median_of(std::move(values));
  };
  const auto measured_in = [&](std::string_view column) {
    const auto [found, is_new] = known.try_emplace({&m, column});
    if (!is_new) return found->second;
    const std::vector<double> launches = measured.values(m, column);
    if (!launches.empty()) found->second = {median_of(launches), spread_of(launches)};
    return found->second;
  };
  const auto reads = measured_in(dram_reads);
  const auto least = median_in(predicted, p, compulsory_reads);
  if (reads && least.value_or(0) != 0) point.over_compulsory = reads->median / *least;
  for (const std::string_view counter : counters) {
    const auto prediction = median_in(predicted, p, counter);
    const auto found = measured_in(counter);
    if (!prediction || !found) continue;
    PointError error{&point, counter, *prediction, found->median, found->launches};
    const auto low = median_in(predicted, p, std::string(counter) + "_low");
    const auto high = median_in(predicted, p, std::string(counter) + "_high");
    if (low && high) error.interval = {*low, *high};
    comparison.errors.push_back(std::move(error));
  }
}

}  // namespace

std::optional<double> PointError::relative() const {
  return relative_error(predicted, measured);
}

std::vector<std::string_view> counters_named(const std::string& list, const std::string& place) {
  const auto known = comparable_columns();
  if (list.empty()) return known;
  std::vector<std::string_view> chosen;
  for (const std::string& counter : split_list(list)) {
    const auto found = std::ranges::find(known, counter);
    if (found == known.end())
      throw UsageError(place + ": '" + counter + "' is no counter; allowed: " + join_list(known) +
                       did_you_mean(counter, known));
    chosen.push_back(*found);
  }
  return chosen;
}

Comparison compare_tables(const CsvTable& predicted_table, const CsvTable& measured_table,
                          const std::vector<std::string_view>& counters) {
  const PointTable predicted(predicted_table, Side::predicted);
  const PointTable measured(measured_table, Side::measured);
  const auto are = [](const PointTable& table, const char* source) {
    return !table.points().empty() && std::ranges::all_of(table.points(), [&](const auto& point) {
      return table.source(point) == source;
    });
  };
  for (const char* source : {"predicted", "measured"})
    if (are(predicted, source) && are(measured, source))
      throw UsageError(measured_table.path + ": its rows are " + source + " (column source), as " +
                       "those of the first table are; allowed: predicted, then measured or " +
                       "published rows; --no-worse-than takes kept predictions");
  Comparison comparison;
  MeasuredColumns known;
  std::vector<bool> p_joined(predicted.points().size()), m_joined(measured.points().size());
  for (const auto& [p, m] : join(predicted, measured)) {
    p_joined[p] = m_joined[m] = true;
    add_errors(predicted, predicted.points()[p], measured, measured.points()[m], counters, known,
               comparison);
  }
  comparison.predicted_points = p_joined.size();
  comparison.measured_points = m_joined.size();
  comparison.predicted_alone = static_cast<size_t>(std::ranges::count(p_joined, false));
  comparison.measured_alone = static_cast<size_t>(std::ranges::count(m_joined, false));
  find_columns_apart(predicted, measured, p_joined, comparison);
  return comparison;
}

// A test on locality.

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
