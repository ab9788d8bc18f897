#include "experiments/sawtooth/advise/advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/time_units.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

using sim::TimeTerm;

// Below these changes an order is as good as the other.
constexpr double same_time_percent = 0.5;
constexpr double same_reads_percent = 5;

OrderForecast forecast_of(const Point& point, const sim::Prediction& made) {
  sim::TimeTerms sum;
  for (const sim::TimeTerms& phase : made.phases)
    for (size_t t = 0; t < sum.ns.size(); ++t) sum.ns[t] += phase.ns[t];
  const sim::Request& request = point.request;
  const double workers = double(std::min(
      request.schedule.workers, item_count(request.problem, request.tiling, request.schedule)));
  const auto us = [&](std::initializer_list<TimeTerm> terms) {
    double ns = 0;
    for (const TimeTerm term : terms) ns += sum[term];
    return ns / workers / ns_a_us;
  };
  using enum TimeTerm;
  OrderForecast forecast;
  forecast.dram_read_sectors = made.total.dram_read_sectors.value_or(0);
  forecast.time_us = *made.time_us;
  forecast.compute_us = us({tensor, exp, exposed, sharing, item});
  forecast.latency_us = us({latency});
  forecast.queues_us = us({l2, dram});
  forecast.idle_us = us({idle});
  return forecast;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// Which of the parts makes most of the change of time.
std::string why_of(const OrderForecast& today, const OrderForecast& other, const Change& change) {
  if (std::abs(change.time_percent) < same_time_percent) {
    if (std::abs(change.dram_percent) < same_reads_percent) return "nothing changes";
    return "misses are hidden behind computing";
  }
  struct Part {
    std::string_view name;
    double us;
  };
  const std::array parts{Part{"exposed latency", other.latency_us - today.latency_us},
                         Part{"bandwidth", other.queues_us - today.queues_us},
                         Part{"balance", other.idle_us - today.idle_us},
                         Part{"steps", other.compute_us - today.compute_us}};
  const bool faster = change.time_percent < 0;
  const Part& most = *std::max_element(
      parts.begin(), parts.end(),
      [&](const Part& a, const Part& b) { return faster ? a.us > b.us : a.us < b.us; });
  return (faster ? "less " : "more ") +
         std::string(most.name == "balance"     ? "idle time (balance)"
                     : most.name == "steps"     ? "time in steps"
                     : most.name == "bandwidth" ? "waiting for bandwidth"
                                                : most.name) +
         ": " + fixed(percent(most.us, today.time_us), 1) + " %";
}

}  // namespace

OrderForecast forecast(const Point& point, int seeds) {
  if (point.ring) throw UsageError("ring: advise takes the orders of one GPU; leave it out");
  std::vector<OrderForecast> made;
  for (int seed = 0; seed < seeds; ++seed) {
    sim::Request request = point.request;
    request.schedule.seed += static_cast<uint64_t>(seed);
    made.push_back(forecast_of(point, experiments::predict(request, point.gpu, *point.keys.l2)));
  }
  std::sort(made.begin(), made.end(),
            [](const auto& a, const auto& b) { return a.time_us < b.time_us; });
  OrderForecast median = made[made.size() / 2];
  const double error_us = point.request.kernel.exposure_error * median.latency_us;
  median.low_us = made.front().time_us - error_us;
  median.high_us = made.back().time_us + error_us;
  return median;
}

Change change_of(const OrderForecast& today, const OrderForecast& other, double exposure_error) {
  Change change;
  change.dram_percent = percent(double(other.dram_read_sectors - today.dram_read_sectors),
                                double(today.dram_read_sectors));
  change.time_percent = percent(other.time_us - today.time_us, today.time_us);
  const auto spread_us = [&](const OrderForecast& of) {
    return (of.high_us - of.low_us) / 2 - exposure_error * of.latency_us;
  };
  const double half_us = std::hypot(spread_us(today), spread_us(other)) +
                         exposure_error * std::abs(other.latency_us - today.latency_us);
  change.low_percent = change.time_percent - percent(half_us, today.time_us);
  change.high_percent = change.time_percent + percent(half_us, today.time_us);
  change.why = why_of(today, other, change);
  return change;
}

}  // namespace sawtooth::experiments
