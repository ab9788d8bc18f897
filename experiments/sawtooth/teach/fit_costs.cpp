#include "experiments/sawtooth/teach/fit_costs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/least_squares.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "scheduler/integer_math.hpp"

namespace sawtooth::experiments {
namespace {

// Scatter of the durations of equal launches, as a share: of Triton's rows in
// experiments/data/h200/orders/gains.csv.
constexpr double scatter = 0.01;
// Items of the Triton kernels among them take 10 to 50 us beyond their steps, which rows of few
// lengths hardly tell from the step: the fit starts there and leaves with rows that say otherwise.
constexpr double usual_item_ns = 20'000;
constexpr double spread_of_item_ns = 15'000;
constexpr double contradiction = 0.15;
constexpr double first_exposed = 0.7;  // latencies a tile, where the fit starts
constexpr int most_steps = 5;
constexpr double normal_90 = 1.645;  // of a normal distribution, 90 % lie within
// So little of a latency that the tile may as well have been asked for a whole step before.
constexpr double hidden = 0.02;
constexpr double most_lead = 7;  // that the simulator keeps loads for

// The parameters of the fit: what a step of CTAs that share an SM takes, an item beyond its steps,
// the latencies that a step is exposed to, and what a lone CTA takes beyond its share of that step,
// as a share of it.
enum Index : size_t { step, item, exposed, apart };
using Costs = std::vector<FreeParameter>;

struct Latencies {
  double near_ns = 0;
  double dram_ns = 0;
  double bytes_ns = 0;  // what the bytes of a tile take that all SMs ask for
};

Latencies latencies_of(const Point& point) {
  const sim::Gpu& gpu = point.gpu;
  if (!gpu.latency_near_ns || !gpu.latency_dram_ns)
    throw UsageError("gpu: the profile of " + gpu.name +
                     " has no latency-near-ns and latency-dram-ns; teach needs both");
  const sim::Request& request = point.request;
  const double bytes = double(request.tiling.kv_rows * request.problem.row_bytes());
  const double readers = double(gpu.sms) / double(gpu.coalescer_sms.value_or(1));
  const auto time = [](double amount, const std::optional<double>& rate) {
    return rate ? amount / *rate : 0;
  };
  return {*gpu.latency_near_ns, *gpu.latency_dram_ns,
          time(bytes, gpu.tile_gb_per_s) + time(bytes * readers, gpu.l2_gb_per_s)};
}

class Fit {
 public:
  Fit(const TaughtRows& taught, size_t threads) : rows_(taught.rows), threads_(threads) {
    latencies_ = latencies_of(rows_.front().point);
    int64_t least_ctas = rows_.front().point.keys.ctas_per_sm;
    double least_step = rows_.front().time_ns;
    for (const TaughtRow& row : rows_) {
      most_ctas_ = std::max(most_ctas_, row.point.keys.ctas_per_sm);
      least_ctas = std::min(least_ctas, row.point.keys.ctas_per_sm);
      count_work(row.point.request);
      least_step = std::min(least_step, row.time_ns / steps_.back());
    }
    costs_ = {{"step", least_step, 50, 1e9, 0.01 * least_step},
              {"item", usual_item_ns, 0, 500'000, 1000},
              {"exposed", first_exposed, 0, 32, 0.2}};
    if (least_ctas == 1 && most_ctas_ > 1) costs_.push_back({"apart", 0, 0, 1, 0.01});
  }

  FittedCosts run() {
    const Minimum found = minimise(
        costs_, [this](const Costs& costs) { return deviations(costs); }, most_steps,
        [this](const Costs& costs, const std::vector<double>& off) { return slopes(costs, off); });
    const auto estimate = [&](Index i) {
      const double spread = normal_90 * found.deviations[i], value = costs_[i].value;
      return Estimate{value, std::max(0.0, value - spread), value + spread};
    };
    FittedCosts fitted;
    fitted.cost = cost_of(costs_);
    fitted.step_ns = estimate(step);
    fitted.item_ns = estimate(item);
    fitted.exposed = estimate(exposed);
    const double tiles = 2;  // K and V
    const double latency_ns = tiles * (latencies_.dram_ns - latencies_.near_ns);
    fitted.miss_ns = {latency_ns * fitted.exposed.value, latency_ns * fitted.exposed.low,
                      latency_ns * fitted.exposed.high};
    fitted.tells_sharing = costs_.size() > apart;
    fitted.predicted_ns = predict(costs_);
    return fitted;
  }

 private:
  /// Costs as the simulator takes them.
  sim::KernelCost cost_of(const Costs& costs) const {
    const double step_ns = costs[step].value, latencies = costs[exposed].value;
    sim::KernelCost cost = rows_.front().point.request.kernel;
    cost.step_ns = step_ns / double(most_ctas_);
    cost.exposed_ns = costs.size() > apart ? costs[apart].value * step_ns : 0;
    cost.item_begin_ns = 0;
    cost.item_end_ns = costs[item].value;
    cost.item_spread_ns = 0;
    cost.age_bias = 0;
    cost.age_bias_prefetch.reset();
    cost.keep_step = most_ctas_ > 1;
    const double hidden_ns =
        latencies_.near_ns + latencies_.bytes_ns +
        (1 - std::min(1.0, latencies)) * (latencies_.dram_ns - latencies_.near_ns);
    cost.lead_k_steps = latencies < hidden ? 1 : std::min(most_lead, hidden_ns / step_ns);
    cost.lead_v_steps = cost.lead_k_steps;
    cost.waits_a_tile = std::max(1.0, latencies);
    return cost;
  }

  std::vector<double> predict(const Costs& costs) const {
    const sim::KernelCost cost = cost_of(costs);
    std::vector<double> times;
    run_in_order(
        rows_.size(), threads_, [&](size_t i) { return predicted_ns(rows_[i], cost); },
        [&](size_t, double ns) { times.push_back(ns); }, [] {});
    return times;
  }
  static double predicted_ns(const TaughtRow& row, const sim::KernelCost& cost) {
    sim::Request request = row.point.request;
    request.kernel = cost;
    sim::Gpu gpu = row.point.gpu;
    // K and V lie in both halves from the launch before.
    if (row.warm) gpu.latency_far_ns = gpu.latency_dram_ns = gpu.latency_near_ns;
    try {
      return *experiments::predict(request, gpu, *row.point.keys.l2).time_us * ns_a_us;
    } catch (const std::invalid_argument& error) {  // what the GPU's profile lacks
      throw UsageError(error.what());
    }
  }

  // Steps and items that follow each other in a launch.
  void count_work(const sim::Request& request) {
    const int64_t items = item_count(request.problem, request.tiling, request.schedule);
    const bool causal = request.problem.mask.kind == MaskKind::causal;
    items_.push_back(double(ceil_div(items, request.schedule.workers)));
    steps_.push_back(items_.back() * double(kv_tiles(request.problem, request.tiling)) *
                     (causal ? 0.5 : 1.0));
  }

  std::vector<double> deviations(const Costs& costs) const {
    std::vector<double> made = predict(costs);
    for (size_t i = 0; i < made.size(); ++i) made[i] = (made[i] / rows_[i].time_ns - 1) / scatter;
    made.push_back((costs[item].value - usual_item_ns) / spread_of_item_ns);
    return made;
  }
  /// A step and an item count as often as a CTA does them. What exposure costs is asked of the
  /// simulator once, and anew where the costs have left that place.
  std::vector<std::vector<double>> slopes(const Costs& costs, const std::vector<double>& off) {
    constexpr double far = 0.25;
    if (of_exposed_.empty() || std::abs(costs[exposed].value - exposed_there_) > far) {
      Costs moved = costs;
      moved[exposed].value += moved[exposed].step;
      of_exposed_ = deviations(moved);
      for (size_t i = 0; i < off.size(); ++i) of_exposed_[i] -= off[i];
      exposed_there_ = costs[exposed].value;
    }
    std::vector<std::vector<double>> made(costs.size(), std::vector<double>(off.size(), 0));
    for (size_t i = 0; i < rows_.size(); ++i) {
      const double scale = 1 / rows_[i].time_ns / scatter;
      const bool alone = rows_[i].point.keys.ctas_per_sm < most_ctas_;
      const double more = costs.size() > apart ? costs[apart].value : 0;
      made[step][i] = steps_[i] * scale * (alone ? 1 / double(most_ctas_) + more : 1);
      made[item][i] = items_[i] * scale;
      if (costs.size() > apart && alone) made[apart][i] = steps_[i] * scale * costs[step].value;
    }
    made[item].back() = 1 / spread_of_item_ns;
    for (size_t k = 0; k < made.size(); ++k)
      for (double& slope : made[k]) slope *= costs[k].step;
    made[exposed] = of_exposed_;
    return made;
  }

  const std::vector<TaughtRow>& rows_;
  size_t threads_;
  Latencies latencies_;
  int64_t most_ctas_ = 1;
  std::vector<double> steps_, items_;
  Costs costs_;
  std::vector<double> of_exposed_;  // slopes
  double exposed_there_ = 0;
};

}  // namespace

FittedCosts fit_costs(const TaughtRows& taught, size_t threads) {
  const FittedCosts fitted = Fit(taught, threads).run();
  for (size_t i = 0; i < taught.rows.size(); ++i) {
    const double time_ns = taught.rows[i].time_ns, ours_ns = fitted.predicted_ns[i];
    if (std::abs(ours_ns / time_ns - 1) <= contradiction) continue;
    throw UsageError(taught.path + ":" + std::to_string(taught.rows[i].line) +
                     ": time_us = " + fixed(time_ns / ns_a_us, 1) +
                     " contradicts the other rows, which give " + fixed(ours_ns / ns_a_us, 1) +
                     "; allowed: rows of one kernel within 15 % of the fit");
  }
  return fitted;
}

}  // namespace sawtooth::experiments
