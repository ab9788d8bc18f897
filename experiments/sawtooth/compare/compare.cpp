#include "experiments/sawtooth/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/sawtooth/inputs/interval_width.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view dram_reads = "dram_read_sectors";
constexpr std::string_view compulsory_reads = "cold_read_sectors";
constexpr double low_share = 0.05;
constexpr double high_share = 0.95;

std::optional<double> relative_error(double predicted, double measured) {
  if (measured != 0) return (predicted - measured) / measured;
  return predicted == 0 ? std::optional<double>(0.0) : std::nullopt;
}

// The median of sorted values without the one at `place`.
double median_without(const std::vector<double>& sorted, size_t place) {
  const auto value = [&](size_t i) { return sorted[i < place ? i : i + 1]; };
  const QuantilePlace middle(sorted.size() - 1, median_share);
  return middle.value(value(middle.below()), value(middle.above()));
}

std::optional<double> noise_of(const std::vector<double>& sorted) {
  std::vector<double> errors;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto error = relative_error(median_without(sorted, i), sorted[i]);
    if (!error) return std::nullopt;
    errors.push_back(std::abs(*error));
  }
  return median_of(std::move(errors));
}

LaunchSpread launches_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.size(), quantile_of(values, low_share), quantile_of(values, high_share),
          noise_of(values)};
}

// Makes the errors of pairs, one after the other.
class ErrorMaker {
 public:
  ErrorMaker(const ComparedPoints& predicted, const ComparedPoints& measured,
             const std::vector<std::string_view>& counters, Comparison& comparison)
      : predicted_(predicted), measured_(measured), comparison_(comparison) {
    for (const std::string_view counter : counters)
      counters_.push_back({counter, place_of(counter), place_of(std::string(counter) + "_low"),
                           place_of(std::string(counter) + "_high")});
  }

  void add(const ComparedPoint& p, const ComparedPoint& m) {
    JoinedPoint& point = comparison_.joined.emplace_back();
    point.group = comparison_.keys->words().text(p.group);
    point.key = PointKey(*comparison_.keys, key_of(p, m));
    point.over_compulsory = over_compulsory(p, m);
    for (const auto& [counter, place, low, high] : counters_) {
      std::vector<double> predictions = predicted_.values(p, place);
      std::vector<double> launches = measured_.values(m, place);
      if (predictions.empty() || launches.empty()) continue;
      PointError error{&point, counter, median_of(std::move(predictions)), median_of(launches)};
      if (launches.size() > 1)
        error.launches = &comparison_.launches.emplace_back(launches_of(std::move(launches)));
      std::vector<double> lows = interval_ends(p, low), highs = interval_ends(p, high);
      if (!lows.empty() && !highs.empty())
        error.interval = &comparison_.intervals.emplace_back(
            PredictedInterval{median_of(std::move(lows)), median_of(std::move(highs))});
      comparison_.errors.push_back(error);
    }
  }

 private:
  struct Counter {
    std::string_view name;
    size_t place, low, high;  // of its values and of the ends of its interval
  };

  std::vector<double> interval_ends(const ComparedPoint& p, size_t place) const {
    return place < predicted_.counters().size() ? predicted_.values(p, place)
                                                : std::vector<double>();
  }

  size_t place_of(std::string_view counter) const {
    const auto& columns = measured_.counters();
    return static_cast<size_t>(std::ranges::find(columns, counter) - columns.begin());
  }

  uint32_t key_of(const ComparedPoint& p, const ComparedPoint& m) const {
    PointKeys::Cells cells = comparison_.keys->cells(m.key);
    const PointKeys::Cells& ours = comparison_.keys->cells(p.key);
    for (size_t i = 0; i < cells.size(); ++i)
      if (cells[i] == Words::empty) cells[i] = ours[i];
    return comparison_.keys->number(cells);
  }

  std::optional<double> over_compulsory(const ComparedPoint& p, const ComparedPoint& m) const {
    std::vector<double> reads = measured_.values(m, place_of(dram_reads));
    std::vector<double> least = predicted_.values(p, place_of(compulsory_reads));
    if (reads.empty() || least.empty()) return std::nullopt;
    const double sectors = median_of(std::move(least));
    if (sectors == 0) return std::nullopt;
    return median_of(std::move(reads)) / sectors;
  }

  const ComparedPoints& predicted_;
  const ComparedPoints& measured_;
  Comparison& comparison_;
  std::vector<Counter> counters_;
};

}  // namespace

std::optional<double> PointError::relative() const {
  return relative_error(predicted, measured);
}

std::vector<std::string_view> counters_named(const std::string& list, const std::string& place) {
  const auto known = comparable_columns();
  if (list.empty()) return known;
  std::vector<std::string_view> chosen;
  for (const std::string& counter : split_list(list)) {
    const auto found = std::find(known.begin(), known.end(), counter);
    if (found != known.end()) {
      chosen.push_back(*found);
      continue;
    }
    std::string allowed;
    for (const std::string_view name : known) {
      allowed.append(allowed.empty() ? "" : ", ").append(name);
    }
    throw UsageError(place + ": '" + counter + "' is no counter; allowed: " + allowed);
  }
  return chosen;
}

std::vector<std::string> compared_columns(const std::vector<std::string_view>& counters) {
  std::vector<std::string> columns(counters.begin(), counters.end());
  for (const std::string_view needed : {dram_reads, compulsory_reads})
    if (std::ranges::find(columns, needed) == columns.end()) columns.emplace_back(needed);
  for (const std::string_view name : interval_columns) {
    if (std::ranges::find(counters, name) == counters.end()) continue;
    for (const char* end : {"_low", "_high"}) columns.push_back(std::string(name) + end);
  }
  return columns;
}

Comparison compare_points(const ComparedPoints& predicted, const ComparedPoints& measured,
                          const std::vector<std::string_view>& counters) {
  Comparison comparison;
  comparison.keys = predicted.keys();
  comparison.predicted_points = predicted.points().size();
  comparison.measured_points = measured.points().size();
  std::vector<bool> p_joined(comparison.predicted_points), m_joined(comparison.measured_points);
  const JoinedPairs pairs = join_points(predicted, measured);
  comparison.errors.reserve(pairs.size() * counters.size());
  ErrorMaker errors(predicted, measured, counters, comparison);
  for (const auto& [p, m] : pairs) {
    p_joined[p] = m_joined[m] = true;
    errors.add(predicted.points()[p], measured.points()[m]);
  }
  const auto alone = [](const std::vector<bool>& joined) {
    return static_cast<size_t>(std::count(joined.begin(), joined.end(), false));
  };
  comparison.predicted_alone = alone(p_joined);
  comparison.measured_alone = alone(m_joined);
  comparison.apart = columns_apart(predicted, measured, p_joined);
  return comparison;
}

Comparison compare_tables(const CsvTable& predicted, const CsvTable& measured,
                          const std::vector<std::string_view>& counters) {
  const auto keys = std::make_shared<PointKeys>();
  const auto columns = compared_columns(counters);
  return compare_points(ComparedPoints(predicted, columns, Side::predicted, keys),
                        ComparedPoints(measured, columns, Side::measured, keys), counters);
}

}  // namespace sawtooth::experiments
