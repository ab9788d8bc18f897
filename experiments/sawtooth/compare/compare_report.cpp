#include "experiments/sawtooth/compare/compare_report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <span>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// So few points of a group are shown one by one.
constexpr size_t few_points = 3;
constexpr int name_width = 26;
constexpr int number_width = 10;

std::string percent(std::optional<double> share, const char* sign = "") {
  return share ? std::string(sign).append(fixed(*share * 100, 2)).append(" %") : "-";
}
double share(size_t part, size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// With all digits that a double has; nothing for nothing.
std::string exact(std::optional<double> value) {
  constexpr int digits = 17;
  return value ? cell_text(&*value, digits) : std::string();
}

// "  NAME        CELL       CELL ENDING".
std::string line(const std::string& name, const std::vector<std::string>& cells,
                 const std::string& ending = {}) {
  std::ostringstream out;
  out << "  " << std::left << std::setw(name_width) << name << std::right;
  for (const std::string& cell : cells) out << " " << std::setw(number_width) << cell;
  out << ending << "\n";
  return out.str();
}

bool is_beyond(const ErrorSummary& summary, const Tolerances& tolerances) {
  const auto tolerance = tolerances.of(summary.counter);
  return tolerance && (summary.undefined > 0 || summary.worst > *tolerance);
}

std::string summary_line(const ErrorSummary& s, bool with_intervals, const Tolerances& tolerances) {
  std::vector<std::string> cells{std::to_string(s.points)};
  if (s.has_figures()) {
    for (const double size : {s.median, s.ninety, s.worst, s.worst_steady})
      cells.push_back(percent(size));
    cells.push_back(percent(s.signed_median, s.signed_median < 0 ? "" : "+"));
  } else {
    cells.resize(6, "-");
  }
  cells.push_back(percent(s.noise));
  if (with_intervals) cells.insert(cells.end(), {percent(s.covered), percent(s.half_width)});
  return line(s.counter, cells,
              is_beyond(s, tolerances) ? "  beyond " + percent(tolerances.of(s.counter)) : "");
}

// Those of one group, of a list by group.
template <class Of>
std::span<const Of> of_group(const std::vector<Of>& all, const std::string& group) {
  const auto first = std::lower_bound(
      all.begin(), all.end(), group, [](const Of& a, const std::string& b) { return a.group < b; });
  const auto end = std::upper_bound(first, all.end(), group,
                                    [](const std::string& a, const Of& b) { return a < b.group; });
  return {first, end};
}

std::string regime_text(const std::vector<ErrorSummary>& summaries, const std::string& group,
                        const std::string& title, const Tolerances& tolerances) {
  const auto found = of_group(summaries, group);
  if (found.empty()) return {};
  const bool with_intervals = std::any_of(
      found.begin(), found.end(), [](const ErrorSummary& s) { return s.covered.has_value(); });
  std::vector<std::string> head{"points", "median", "90 %", "worst", "steady", "signed", "noise"};
  if (with_intervals) head.insert(head.end(), {"covered", "half width"});
  std::string text = line(title, head);
  for (const ErrorSummary& s : found) text += summary_line(s, with_intervals, tolerances);
  return text;
}

// Points where nothing was measured and something predicted have no relative error: they are said.
std::string zero_text(const ErrorSummary& s) {
  if (s.undefined == 0) return {};
  std::string text = "  " + s.counter + ": 0 measured at " + std::to_string(s.undefined) + " of " +
                     std::to_string(s.points) + " points where up to " +
                     fixed(s.most_undefined, 0) +
                     " were predicted; no relative error is defined there\n";
  if (s.counter == "l2_write_miss_sectors")
    text +=
        "    (the two differ in meaning: GH100 counts a write that allocates its line without a "
        "fill as a hit,\n     the models count the first write of a line as a miss, as the "
        "sawtooth paper's counts on GB10 do)\n";
  return text;
}

std::string changes_text(const std::vector<ScheduleChanges>& changes, const std::string& group) {
  std::string text;
  for (const ScheduleChanges& c : of_group(changes, group)) {
    if (text.empty()) text = line("changes of schedule", {"pairs", "order", "size"});
    text += line(c.counter, {std::to_string(c.pairs), percent(share(c.right_order, c.pairs)),
                             percent(share(c.right_size, c.pairs))});
  }
  return text;
}

// A line a counter of each point of a group; nothing where there are many points.
std::string points_text(const std::vector<const PointError*>& errors,
                        const Tolerances& tolerances) {
  std::string text;
  const JoinedPoint* last = nullptr;
  size_t points = 0;
  for (const PointError* const of_point : errors) {
    const PointError& error = *of_point;
    if (std::exchange(last, error.point) != error.point) {
      if (++points > few_points) return {};
      text += "  " + name_of(error.point->key) + "\n";
      text += line("", {"predicted", "measured", "error", "low", "high"});
    }
    const int digits = error.counter == "time_us" ? 2 : 0;
    const auto relative = error.relative();
    std::vector<std::string> cells{fixed(error.predicted, digits), fixed(error.measured, digits),
                                   percent(relative, relative.value_or(0) < 0 ? "" : "+")};
    if (error.interval)
      for (const double end : {error.interval->low, error.interval->high})
        cells.push_back(fixed(end, digits));
    const auto limit = tolerances.of(error.counter);
    const bool is_out = limit && (!relative || std::abs(*relative) > *limit);
    text += line(std::string(error.counter), cells, is_out ? "  beyond " + percent(limit) : "");
  }
  return text;
}

}  // namespace

std::string report_text(const std::vector<PointError>& errors, const Tolerances& tolerances) {
  const std::string over = "over " + fixed(over_compulsory_factor, 1) + " x compulsory";
  const auto all = summarise(errors);
  const auto hard = summarise(errors, Regime::over_compulsory);
  const auto changes = schedule_changes(errors);
  std::map<std::string_view, std::vector<const PointError*>> by_group;
  for (const PointError& error : errors) by_group[error.point->group].push_back(&error);
  std::string text;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string& group = all[i].group;
    if (i > 0 && all[i - 1].group == group) continue;
    text += (group.empty() ? "no model named" : group) + "\n";
    const std::string points = points_text(by_group[group], tolerances);
    text += points;
    if (points.empty())
      text +=
          regime_text(all, group, "all points", tolerances) + regime_text(hard, group, over, {});
    for (const ErrorSummary& own : of_group(all, group)) text += zero_text(own);
    text += changes_text(changes, group);
  }
  return text;
}

std::string summary_table(const std::vector<PointError>& errors) {
  std::string text = csv_line({"group", "counter", "points", "statistic", "value"});
  const auto put = [&](const auto& of, const char* points, const char* statistic,
                       std::optional<double> value) {
    if (value) text += csv_line({of.group, of.counter, points, statistic, exact(value)});
  };
  for (const Regime regime : {Regime::all, Regime::over_compulsory}) {
    const char* points = regime == Regime::all ? "all" : "over";
    for (const ErrorSummary& s : summarise(errors, regime)) {
      put(s, points, "count", static_cast<double>(s.points));
      if (s.has_figures()) {
        put(s, points, "median", s.median);
        put(s, points, "ninety", s.ninety);
        put(s, points, "worst", s.worst);
        put(s, points, "steady", s.worst_steady);
        put(s, points, "signed", s.signed_median);
      }
      put(s, points, "noise", s.noise);
      put(s, points, "covered", s.covered);
      put(s, points, "half_width", s.half_width);
    }
  }
  for (const ScheduleChanges& c : schedule_changes(errors)) {
    put(c, "all", "pairs", static_cast<double>(c.pairs));
    put(c, "all", "order", share(c.right_order, c.pairs));
    put(c, "all", "size", share(c.right_size, c.pairs));
  }
  return text;
}

bool beyond(const std::vector<PointError>& errors, const Tolerances& tolerances) {
  return std::ranges::any_of(summarise(errors), [&](const ErrorSummary& summary) {
    return is_beyond(summary, tolerances);
  });
}

void write_error_table(std::ostream& out, const std::vector<PointError>& errors) {
  CsvRow header{"group",          "counter",       "predicted",      "predicted_low",
                "predicted_high", "measured",      "relative_error", "noise",
                "measured_low",   "measured_high", "launches",       "over_compulsory"};
  for (const std::string_view name : join_columns()) header.emplace_back(name);
  out << csv_line(header);
  for (const PointError& error : errors) {
    const auto& interval = error.interval;
    const LaunchSpread& launches = error.launches;
    CsvRow row{error.point->group, std::string(error.counter), exact(error.predicted)};
    for (const auto end : {&PredictedInterval::low, &PredictedInterval::high})
      row.push_back(interval ? exact(*interval.*end) : "");
    for (const std::optional<double> value : std::initializer_list<std::optional<double>>{
             error.measured, error.relative(), launches.noise, launches.low, launches.high})
      row.push_back(exact(value));
    row.insert(row.end(), {std::to_string(launches.count), exact(error.point->over_compulsory)});
    row.insert(row.end(), error.point->key.begin(), error.point->key.end());
    out << csv_line(row);
  }
}

// Statistics of errors.

namespace {

using Errors = std::vector<const PointError*>;
using GroupAndCounter = std::pair<std::string_view, std::string_view>;

// Groups by name, the counters of each in the order of their first points.
std::vector<std::pair<GroupAndCounter, Errors>> sets_of(const std::vector<PointError>& errors,
                                                        Regime regime) {
  std::vector<std::pair<GroupAndCounter, Errors>> sets;
  std::map<GroupAndCounter, size_t> places;
  for (const PointError& error : errors) {
    if (regime == Regime::over_compulsory &&
        !(error.point->over_compulsory > over_compulsory_factor))
      continue;
    const GroupAndCounter name{error.point->group, error.counter};
    const auto [place, is_new] = places.try_emplace(name, sets.size());
    if (is_new) sets.push_back({name, {}});
    sets[place->second].second.push_back(&error);
  }
  std::ranges::stable_sort(sets, {}, [](const auto& set) { return set.first.first; });
  return sets;
}

ErrorSummary summary_of(const GroupAndCounter& name, const Errors& errors) {
  ErrorSummary summary{.group = std::string(name.first), .counter = std::string(name.second)};
  summary.points = errors.size();
  std::vector<double> sizes, with_sign, noise, half_widths;
  double inside = 0;
  for (const PointError* error : errors) {
    if (error->launches.noise) noise.push_back(*error->launches.noise);
    if (const auto& interval = error->interval) {
      if (interval->low <= error->measured && error->measured <= interval->high) ++inside;
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
    if (error->spread() < steady_spread)
      summary.worst_steady = std::max(summary.worst_steady, sizes.back());
  }
  if (!noise.empty()) summary.noise = median_of(std::move(noise));
  if (!half_widths.empty()) {
    summary.covered = inside / static_cast<double>(half_widths.size());
    summary.half_width = median_of(std::move(half_widths));
  }
  if (summary.has_figures()) {
    summary.ninety = nearest_rank(sizes, ninety_share);
    summary.worst = *std::ranges::max_element(sizes);
    summary.median = median_of(std::move(sizes));
    summary.signed_median = median_of(std::move(with_sign));
  }
  return summary;
}

// Counts the pairs of `later` with the points before it.
void count_pairs(const Errors& before, const PointError& later, ScheduleChanges& changes) {
  for (const PointError* earlier : before) {
    const double measured = later.measured / earlier->measured;
    if (std::max(measured, 1 / measured) <= 1 + schedule_difference) continue;
    ++changes.pairs;
    if ((later.measured - earlier->measured) * (later.predicted - earlier->predicted) > 0)
      ++changes.right_order;
    const double ratio = later.predicted / later.measured;
    const double ratio_before = earlier->predicted / earlier->measured;
    if (ratio_before > 0 && std::abs(ratio / ratio_before - 1) <= size_tolerance)
      ++changes.right_size;
  }
}

}  // namespace

std::vector<ErrorSummary> summarise(const std::vector<PointError>& errors, Regime regime) {
  std::vector<ErrorSummary> summaries;
  for (const auto& [name, points] : sets_of(errors, regime))
    summaries.push_back(summary_of(name, points));
  return summaries;
}

std::vector<ScheduleChanges> schedule_changes(const std::vector<PointError>& errors) {
  std::vector<ScheduleChanges> all;
  for (const auto& [name, points] : sets_of(errors, Regime::all)) {
    ScheduleChanges changes{.group = std::string(name.first), .counter = std::string(name.second)};
    std::unordered_map<std::string, Errors> problems;
    for (const PointError* error : points) {
      if (error->measured <= 0) continue;
      Errors& before = problems[error->point->problem];
      count_pairs(before, *error, changes);
      before.push_back(error);
    }
    if (changes.pairs > 0) all.push_back(std::move(changes));
  }
  return all;
}

}  // namespace sawtooth::experiments
