#include "experiments/sawtooth/advise/advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

using sim::TimeTerm;

constexpr double same_time_percent = 0.5;   // below it an order is as good as the other
constexpr double least_effect_percent = 1;  // a verdict needs as much

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
  forecast.reads_in_time = forecast.dram_read_sectors;
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
  if (std::abs(change.time.value) < same_time_percent) {
    const int64_t more = other.reads_in_time - today.reads_in_time;
    if (std::abs(percent(double(more), double(today.reads_in_time))) < same_reads_percent)
      return "nothing changes";
    return "misses are hidden behind computing";
  }
  struct Part {
    std::string_view name;
    double us;
  };
  const std::array parts{Part{"exposed latency", other.latency_us - today.latency_us},
                         Part{"waiting for bandwidth", other.queues_us - today.queues_us},
                         Part{"idle time (balance)", other.idle_us - today.idle_us},
                         Part{"time in steps", other.compute_us - today.compute_us}};
  const bool faster = change.time.value < 0;
  const Part& most = *std::max_element(
      parts.begin(), parts.end(),
      [&](const Part& a, const Part& b) { return faster ? a.us > b.us : a.us < b.us; });
  return std::string(faster ? "less " : "more ").append(most.name) + ": " +
         fixed(percent(most.us, today.time_us), 1) + " %";
}

}  // namespace

OrderForecast forecast(const Point& point, const Point& usual, int seeds) {
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
  median.spread_us = (made.back().time_us - made.front().time_us) / 2;
  for (const IntervalWidth& width : point.judgement.intervals)
    if (width.column == "time_us") {
      std::vector<double> times;
      for (const OrderForecast& one : made) times.push_back(one.time_us);
      median.half_width = width.half_width_of_time(times, median.time_us);
    }
  for (const JudgedError& error : point.judgement.errors)
    if (error.counter == "time_change") median.change_error = error.ninety;
  if (usual.request.timing == sim::Timing::timed && !usual.spans_models()) return median;
  const PredictedResult reads = predict(usual, usual.request, key_cells(usual, "", "predicted"));
  median.dram_read_sectors = reads.prediction.total.dram_read_sectors.value_or(0);
  for (const sim::Prediction& other : reads.others)
    median.other_dram_reads.push_back(other.total.dram_read_sectors.value_or(0));
  return median;
}

L2Budget l2_budget(const Point& point) {
  constexpr double compulsory_share = 1.01;  // beyond it reads have left compulsory ones
  if (point.sequences) throw std::invalid_argument("sequences differ");
  const L2Model& l2 =
      model_named(l2_models, point.gpu.l2_halves.value_or(1) == 2 ? "halves" : "sets");
  sim::Request request = point.request;
  Problem& problem = request.problem;
  const int64_t group = problem.heads_per_kv_head();
  L2Budget budget{.l2 = l2.name, .all_kv_heads = problem.batch * problem.kv_heads};
  request.timing = sim::Timing::lockstep;
  problem.batch = 1;
  for (int64_t too_many = budget.all_kv_heads + 1; too_many - budget.kv_heads > 1;) {
    const int64_t heads = (budget.kv_heads + too_many) / 2;
    problem.heads = heads * group;
    problem.kv_heads = heads;
    request.schedule.order = {.section = problem.heads,
                              .q_order = point.request.schedule.order.q_order};
    const sim::Counters made = experiments::predict(request, point.gpu, l2).total;
    const double reads = double(made.dram_read_sectors.value_or(0)) /
                         double(std::max<int64_t>(1, made.cold_read_sectors.value_or(0)));
    (reads > compulsory_share ? too_many : budget.kv_heads) = heads;
    if (reads > compulsory_share) budget.one_more_reads = reads;
  }
  budget.kv_bytes = budget.kv_heads * problem.kv_head_bytes();
  return budget;
}

std::string_view name_of(Effect verdict) {
  constexpr std::string_view names[] = {"unknown", "open", "same", "pays", "costs"};
  return names[size_t(verdict)];
}

Change change_of(const Advised& before, const Advised& after) {
  const OrderForecast &today = before.forecast, &other = after.forecast;
  Change change;
  if (&before == &after) return {{}, {}, Effect::same, "today"};
  change.dram.value = percent(double(other.dram_read_sectors - today.dram_read_sectors),
                              double(today.dram_read_sectors));
  const bool alike = today.other_dram_reads.size() == other.other_dram_reads.size();
  for (size_t i = 0; alike && i < today.other_dram_reads.size(); ++i) {
    const double one = percent(double(other.other_dram_reads[i] - today.other_dram_reads[i]),
                               double(today.other_dram_reads[i]));
    change.dram.low = std::min(change.dram.low.value_or(change.dram.value), one);
    change.dram.high = std::max(change.dram.high.value_or(change.dram.value), one);
  }
  const double ratio = other.time_us / today.time_us;
  const double time = change.time.value = percent(ratio - 1, 1);
  if (today.change_error && other.change_error) {
    const double half_us =
        std::hypot(today.spread_us, other.spread_us) +
        after.point.request.kernel.exposure_error * std::abs(other.latency_us - today.latency_us);
    const double half = percent(half_us + *other.change_error * other.time_us, today.time_us);
    change.time = {time, time - half, time + half};
  }
  if (change.time.low) {
    const double low = *change.time.low, high = *change.time.high, least = least_effect_percent;
    change.verdict = high < -least                  ? Effect::pays
                     : low > least                  ? Effect::costs
                     : low > -least && high < least ? Effect::same
                                                    : Effect::open;
  }
  change.why = why_of(today, other, change);
  return change;
}

}  // namespace sawtooth::experiments
