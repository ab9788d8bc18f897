
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cupti/range_profiler.hpp"

namespace sawtooth::cupti {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names with(const Names& names, const std::string& name) {
  Names more = names;
  more.push_back(name);
  return more;
}

/// Metrics that cannot be combined at all are reported as not schedulable; that is a "no" here.
bool fits_one_pass(const std::string& chip, const Names& metrics,
                   const std::vector<uint8_t>& availability) {
  try {
    return passes_of(chip, metrics, availability) == 1;
  } catch (const CounterError& error) {
    if (error.status() != Status::metric_not_schedulable) throw;
    return false;
  }
}

/// Those of `metrics` that can be read alone; the others go to `dropped`.
Names readable(const std::string& chip, const Names& metrics,
               const std::vector<uint8_t>& availability, std::vector<DroppedMetric>& dropped) {
  Names good;
  for (const std::string& metric : metrics) {
    try {
      passes_of(chip, {metric}, availability);
      good.push_back(metric);
    } catch (const CounterError& error) {
      if (error.status() != Status::unknown_metric &&
          error.status() != Status::metric_not_schedulable)
        throw;
      dropped.push_back({metric, error.status()});
    }
  }
  return good;
}

}  // namespace

int64_t MetricPlan::passes() const {
  int64_t sum = 0;
  for (const MetricGroup& group : groups) sum += group.passes();
  return sum;
}

MetricPlan plan_metrics(const std::string& chip, const Names& metrics, const Names& witnesses,
                        const std::vector<uint8_t>& availability, BadMetrics bad) {
  if (metrics.empty() && witnesses.empty())
    throw std::invalid_argument("plan_metrics: name at least one metric");
  if (bad == BadMetrics::drop) {
    std::vector<DroppedMetric> dropped;
    const Names good_witnesses = readable(chip, witnesses, availability, dropped);
    const Names good = readable(chip, metrics, availability, dropped);
    if (good.empty() && good_witnesses.empty())
      throw CounterError(dropped.front().status, "every metric on " + chip);
    MetricPlan plan = plan_metrics(chip, good, good_witnesses, availability);
    plan.dropped = std::move(dropped);
    return plan;
  }
  std::vector<Names> packed;   // one pass each, witnesses first
  std::vector<Names> several;  // metrics that need more than one pass alone
  Names seen = witnesses;
  for (const std::string& metric : metrics) {
    if (contains(seen, metric)) continue;
    seen.push_back(metric);
    const auto place = std::find_if(packed.begin(), packed.end(), [&](const Names& group) {
      return fits_one_pass(chip, with(group, metric), availability);
    });
    if (place != packed.end())
      place->push_back(metric);
    else if (fits_one_pass(chip, with(witnesses, metric), availability))
      packed.push_back(with(witnesses, metric));
    else
      several.push_back({metric});
  }
  if (packed.empty() && several.empty()) packed.push_back(witnesses);

  MetricPlan plan{chip, witnesses, {}};
  for (const auto* groups : {&packed, &several})
    for (const Names& group : *groups) plan.groups.emplace_back(chip, group, availability);
  return plan;
}

namespace {

int64_t exact_integer(const MetricValue& value) {
  // 2^53: beyond it a double skips integers.
  constexpr double limit = 9007199254740992.0;
  if (!(std::abs(value.value) < limit) || std::trunc(value.value) != value.value)
    throw CounterError(Status::failed, "metric '" + value.metric + "' is not a count: value " +
                                           std::to_string(value.value));
  return static_cast<int64_t>(value.value);
}

}  // namespace

std::optional<int64_t> RangeReading::count(std::string_view metric) const {
  for (const MetricValue& value : values)
    if (value.metric == metric) return exact_integer(value);
  return std::nullopt;
}

std::vector<int64_t> RangeReading::counts_by_pass(std::string_view metric) const {
  std::vector<int64_t> counts;
  for (const MetricValue& value : values)
    if (value.metric == metric) counts.push_back(exact_integer(value));
  return counts;
}

}  // namespace sawtooth::cupti
