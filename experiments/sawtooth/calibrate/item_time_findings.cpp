#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int lockstep_items = 2;  // the first of a launch, in which CTAs are where they started

/// At 0, and slope; through 0 where all points have one x.
std::pair<double, double> line_through(const std::vector<std::pair<double, double>>& points) {
  double x_mean = 0, y_mean = 0, square = 0, product = 0;
  for (const auto& [x, y] : points) {
    x_mean += x / double(points.size());
    y_mean += y / double(points.size());
  }
  for (const auto& [x, y] : points) {
    square += (x - x_mean) * (x - x_mean);
    product += (x - x_mean) * (y - y_mean);
  }
  const double slope = square > 0 ? product / square : y_mean / x_mean;
  return {y_mean - slope * x_mean, slope};
}

struct TimedItem {
  int64_t sm = 0;
  size_t number = 0;
  double steps = 0;
  double ns = 0;
};

/// By how much more an item takes beyond its steps in the TPC of a GPC that starts last than in
/// the first; the first items, in which CTAs stay together, are not used.
std::pair<double, double> item_times(const RecordedSms& sms, const RecordedLaunch& launch) {
  std::vector<TimedItem> times;
  std::vector<std::pair<double, double>> of_steps;
  for (int64_t sm = 0; sm < sms.count(); ++sm) {
    const auto& items = launch.ctas[size_t(sm)];
    for (size_t k = 0; k + 1 < items.size(); ++k) {
      times.push_back(
          {sm, k, double(items[k].steps), double(items[k + 1].start_ns - items[k].start_ns)});
      of_steps.emplace_back(times.back().steps, times.back().ns);
    }
  }
  const auto [item_ns, step_ns] = line_through(of_steps);
  std::map<std::pair<size_t, size_t>, std::vector<std::pair<double, double>>> groups;
  for (size_t gpc = 0; gpc < sms.gpcs().size(); ++gpc)
    for (const TimedItem& time : times)
      if (time.number >= lockstep_items && std::ranges::count(sms.gpcs()[gpc], time.sm) > 0)
        groups[{gpc, time.number}].emplace_back(sms.turns()[size_t(time.sm)],
                                                time.ns - step_ns * time.steps);
  std::vector<std::pair<double, double>> late;
  for (const auto& [key, own] : groups) {
    std::vector<double> values, deviations;
    for (const auto& [turn, ns] : own) values.push_back(ns);
    const double middle = median_of(values);
    for (const double ns : values) deviations.push_back(std::abs(ns - middle));
    const double usual = normal * median_of(deviations);
    for (const auto& [turn, ns] : own)  // no TPC that is apart
      if (std::abs(ns - middle) < 3 * usual) late.emplace_back(turn, ns - middle);
  }
  return {item_ns, line_through(late).second};
}

}  // namespace

bool is_unequal(const RecordedSms& sms, const RecordedLaunch& launch) {
  std::set<int64_t> lengths;
  size_t items = 0;
  for (const auto& of_cta : launch.ctas) {
    items += of_cta.size();
    for (const RecordedItem& item : of_cta) lengths.insert(item.steps);
  }
  return sms.is_lone(launch) && lengths.size() > 2 &&
         items > size_t((lockstep_items + 2) * sms.count());
}

ItemTime item_time_of(const Launches& launches) {
  std::vector<std::pair<double, double>> of_steps;
  for (const RecordedLaunch* launch : launches)
    for (const auto& items : launch->ctas)
      for (size_t k = 0; k + 1 < items.size(); ++k)
        of_steps.emplace_back(double(items[k].steps),
                              double(items[k + 1].start_ns - items[k].start_ns));
  const auto [item_ns, step_ns] = line_through(of_steps);
  return {item_ns, step_ns};
}

void add_items(const RecordedSms& sms, ItemFindings& found) {
  const Launches unequal = sms.select([&](const RecordedLaunch& l) { return is_unequal(sms, l); });
  if (unequal.empty()) return;
  const double item_ns = median_over(unequal, [&](auto& l) { return item_times(sms, l).first; });
  add_finding(
      kernel_findings(found, std::string(every_kernel)), "item-spread-ns",
      median_over(unequal, [&](auto& l) { return item_times(sms, l).second; }), 0,
      "what an item takes longer in the TPC of a GPC that starts last than in the first; an item "
      "takes " +
          fixed(item_ns, 0) + " ns beyond its steps");
}

}  // namespace sawtooth::experiments
