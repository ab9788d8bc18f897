#include "experiments/sawtooth/teach/fit_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/least_squares.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"
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
// Latencies a tile, where the fit starts: a change does less where most of one is hidden, and steps
// from one side do not reach the other.
constexpr auto first_exposed = std::to_array({0.7, 0.1});
constexpr int most_steps = 5;
constexpr double normal_90 = 1.645;  // of a normal distribution, 90 % lie within
// So little of a latency that the tile may as well have been asked for a whole step before.
constexpr double hidden = 0.02;
constexpr double most_lead = 7;  // that the simulator keeps loads for

// The parameters of the fit: what an item takes beyond its steps, the latencies that a step is
// exposed to, what a lone CTA takes beyond its share of a step, as a share of it, and behind these
// what a step of CTAs that share an SM takes, a mask each.
enum Index : size_t { item, exposed, apart, steps };
using Costs = std::vector<FreeParameter>;

struct Latencies {
  double near_ns = 0, dram_ns = 0;
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

/// `exposed` latencies of steps of `step_ns`.
void set_drift(sim::KernelCost& cost, const CtaDrift& drift, const Point& point, double exposed,
               double step_ns) {
  const Latencies of = latencies_of(point);
  const auto ctas = double(point.gpu.sms * point.keys.ctas_per_sm);
  cost.age_bias = drift.age_bias;
  if (drift.sm_spread) cost.sm_spread = drift.sm_spread;
  cost.spill_bytes = std::llround(drift.l2_taken * double(point.gpu.l2_bytes) / ctas);
  const double hidden_ns =
      of.near_ns + of.bytes_ns + (1 - std::min(1.0, exposed)) * (of.dram_ns - of.near_ns);
  cost.lead_k_steps = exposed < hidden ? 1 : std::min(most_lead, hidden_ns / step_ns);
  cost.lead_v_steps = cost.lead_k_steps;
  cost.waits_a_tile = std::max(1.0, exposed);
}

class Fit {
 public:
  Fit(const std::vector<TaughtRow>& rows, size_t threads, const CtaDrift& drift)
      : rows_(rows), threads_(threads), drift_(drift) {
    latencies_ = latencies_of(rows_.front().point);
    int64_t least_ctas = ctas_an_sm(rows_.front());
    std::vector<double> least_steps;
    for (const TaughtRow& row : rows_) {
      most_ctas_ = std::max(most_ctas_, row.point.keys.ctas_per_sm);
      least_ctas = std::min(least_ctas, ctas_an_sm(row));
      count_work(row.point.request);
      const size_t mask = place_of_mask(row);
      if (mask == least_steps.size()) least_steps.push_back(row.time_ns);
      least_steps[mask] = std::min(least_steps[mask], row.time_ns / steps_.back());
    }
    tells_sharing_ = least_ctas == 1 && most_ctas_ > 1;
    costs_ = {{"item", usual_item_ns, 0, 500'000, 1000},
              {"exposed", 0, drift.exposed.value_or(0), drift.exposed.value_or(32), 0.2},
              {"apart", 0, 0, tells_sharing_ ? 1.0 : 0.0, 0.01}};
    for (const double least : least_steps) costs_.push_back({"step", least, 50, 1e9, 0.01 * least});
  }

  std::map<std::string, FittedCosts> run() {
    const Costs first = costs_;
    Minimum found;
    for (const double start : first_exposed) {
      if (drift_.exposed && !found.deviations.empty()) break;
      Costs costs = first;
      costs[exposed].value = drift_.exposed.value_or(start);
      of_exposed_.clear();
      Minimum one = minimise(
          costs, [this](const Costs& at) { return deviations(at); }, most_steps,
          [this](const Costs& at, const std::vector<double>& off) { return slopes(at, off); });
      if (!found.deviations.empty() && found.sum <= one.sum) continue;
      found = std::move(one);
      costs_ = std::move(costs);
    }
    const auto estimate = [&](size_t i) {
      const double spread = normal_90 * found.deviations[i], value = costs_[i].value;
      return Estimate{value, std::max(0.0, value - spread), value + spread};
    };
    const double tiles = 2;  // K and V
    const double latency_ns = tiles * (latencies_.dram_ns - latencies_.near_ns);
    const std::vector<double> predicted = predict(costs_);
    std::map<std::string, FittedCosts> by_mask;
    for (size_t mask = 0; mask < masks_.size(); ++mask) {
      FittedCosts& fitted = by_mask[masks_[mask]];
      fitted.cost = cost_of(costs_, mask);
      fitted.step_ns = estimate(steps + mask);
      fitted.item_ns = estimate(item);
      fitted.exposed = estimate(exposed);
      fitted.miss_ns = {latency_ns * fitted.exposed.value, latency_ns * fitted.exposed.low,
                        latency_ns * fitted.exposed.high};
      fitted.tells_sharing = tells_sharing_;
      fitted.predicted_ns = predicted;
    }
    return by_mask;
  }

 private:
  /// Costs as the simulator takes them.
  sim::KernelCost cost_of(const Costs& costs, size_t mask) const {
    const double step_ns = costs[steps + mask].value, latencies = costs[exposed].value;
    sim::KernelCost cost = rows_.front().point.request.kernel;
    cost.step_ns = step_ns / double(most_ctas_);
    cost.exposed_ns = costs[apart].value * step_ns;
    cost.item_begin_ns = 0;
    cost.item_end_ns = costs[item].value;
    cost.keep_step = most_ctas_ > 1 && drift_.keep_step;
    set_drift(cost, drift_, rows_.front().point, latencies, step_ns);
    return cost;
  }

  std::vector<double> predict(const Costs& costs) const {
    std::vector<sim::KernelCost> of_masks;
    for (size_t mask = 0; mask < masks_.size(); ++mask) of_masks.push_back(cost_of(costs, mask));
    std::vector<double> times;
    run_in_order(
        rows_.size(), threads_,
        [&](size_t i) { return predicted_ns(rows_[i], of_masks[mask_of_row_[i]]); },
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

  // And notes which mask the row has.
  size_t place_of_mask(const TaughtRow& row) {
    const std::string mask = row.point.text("mask");
    const auto place = static_cast<size_t>(std::ranges::find(masks_, mask) - masks_.begin());
    if (place == masks_.size()) masks_.push_back(mask);
    mask_of_row_.push_back(place);
    return place;
  }

  // A launch of few items leaves SMs to one CTA each.
  static int64_t ctas_an_sm(const TaughtRow& row) {
    const sim::Request& request = row.point.request;
    const int64_t items = item_count(request.problem, request.tiling, request.schedule);
    return std::min(row.point.keys.ctas_per_sm, ceil_div(items, row.point.gpu.sms));
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
      const bool alone = ctas_an_sm(rows_[i]) < most_ctas_;
      const size_t step = steps + mask_of_row_[i];
      made[step][i] = steps_[i] * scale * (alone ? 1 / double(most_ctas_) + costs[apart].value : 1);
      made[item][i] = items_[i] * scale;
      if (tells_sharing_ && alone) made[apart][i] = steps_[i] * scale * costs[step].value;
    }
    made[item].back() = 1 / spread_of_item_ns;
    for (size_t k = 0; k < made.size(); ++k)
      for (double& slope : made[k]) slope *= costs[k].step;
    made[exposed] = of_exposed_;
    return made;
  }

  const std::vector<TaughtRow>& rows_;
  size_t threads_;
  CtaDrift drift_;
  Latencies latencies_;
  int64_t most_ctas_ = 1;
  bool tells_sharing_ = false;  // rows with one and with several CTAs an SM are there
  std::vector<std::string> masks_;
  std::vector<size_t> mask_of_row_;
  std::vector<double> steps_, items_;
  Costs costs_;
  std::vector<double> of_exposed_;  // slopes
  double exposed_there_ = 0;
};

}  // namespace

std::map<std::string, FittedCosts> fit_costs(const std::vector<TaughtRow>& rows, size_t threads,
                                             const CtaDrift& drift) {
  return Fit(rows, threads, drift).run();
}

sim::KernelCost drifting(const FittedCosts& fitted, const CtaDrift& drift, const Point& point) {
  sim::KernelCost cost = fitted.cost;
  cost.keep_step = point.keys.ctas_per_sm > 1 && drift.keep_step;
  set_drift(cost, drift, point, drift.exposed.value_or(fitted.exposed.value), fitted.step_ns.value);
  return cost;
}

void refuse_contradictions(const TaughtRows& taught, const FittedCosts& fitted) {
  for (size_t i = 0; i < taught.rows.size(); ++i) {
    const double time_ns = taught.rows[i].time_ns, ours_ns = fitted.predicted_ns[i];
    if (std::abs(ours_ns / time_ns - 1) <= contradiction) continue;
    throw UsageError(taught.path + ":" + std::to_string(taught.rows[i].line) +
                     ": time_us = " + fixed(time_ns / ns_a_us, 1) +
                     " contradicts the other rows, which give " + fixed(ours_ns / ns_a_us, 1) +
                     "; allowed: rows of one kernel within 15 % of the fit");
  }
}

std::string range(const Estimate& estimate, int decimals) {
  return fixed(estimate.low, decimals) + " to " + fixed(estimate.high, decimals);
}

std::string sentence(const FittedCosts& fitted) {
  const double lead = *fitted.cost.lead_k_steps;
  const std::string miss = fixed(fitted.miss_ns.value, 0) + " ns (" + range(fitted.miss_ns, 0) +
                           "), " + fixed(100 * fitted.miss_ns.value / fitted.step_ns.value, 0) +
                           " % of a step";
  constexpr double not_told_from_0 = 0.1;
  if (fitted.exposed.value < not_told_from_0)
    return "It asks for K and V early enough to hide DRAM's latency: a step whose tiles miss takes "
           "hardly longer, " +
           miss + ". No order changes its time by latency.";
  if (fitted.exposed.value < 1)
    return "It asks for K and V " + fixed(lead, 2) + " steps ahead: exposed to " +
           fixed(100 * fitted.exposed.value, 0) +
           " % of DRAM's latency. A step whose tiles miss "
           "takes longer by " +
           miss + ".";
  return "It asks for K and V when it needs them: exposed to all of DRAM's latency, " +
         fixed(fitted.exposed.value, 1) +
         " times a tile. A step whose tiles miss takes longer by " + miss + ".";
}

namespace {

double exposure_error(const FittedCosts& fitted) {
  constexpr double most = 10;
  const Estimate& miss = fitted.miss_ns;
  return miss.value > 0 ? std::min(most, (miss.high - miss.low) / 2 / miss.value) : 0;
}

Parameter parameter(std::string key, std::string value, std::string note) {
  return {std::move(key), std::move(value), "measured", std::move(note)};
}

}  // namespace

std::vector<Parameter> parameters_of(const FittedCosts& fitted, const std::string& from) {
  const sim::KernelCost& cost = fitted.cost;
  const std::string exposure = fixed(fitted.exposed.value, 2) + " (" + range(fitted.exposed, 2) +
                               ") DRAM latencies of K and of V exposed";
  std::vector<Parameter> parameters{
      parameter("step-ns", fixed(*cost.step_ns, 2),
                from + "; a CTA's step of near tiles takes " + fixed(fitted.step_ns.value, 1) +
                    " ns (" + range(fitted.step_ns, 1) + ")"),
      parameter("fixed-ns", "0", from + "; in step-ns"),
      parameter("exposed-ns", fixed(cost.exposed_ns, 2),
                fitted.tells_sharing ? from + "; of a lone CTA beyond step-ns"
                                     : from + "; not told from step-ns: needs rows of one and of "
                                              "several CTAs an SM"),
      parameter("age-bias", shortest(cost.age_bias), from + "; not told from durations"),
      parameter("keep-step", cost.keep_step ? "on" : "off",
                from + "; whether CTAs of an SM take turns"),
      parameter("item-begin-ns", "0", from + "; in item-end-ns"),
      parameter("item-end-ns", fixed(cost.item_end_ns, 0),
                from + "; " + range(fitted.item_ns, 0) + " ns"),
      parameter("lead-k-steps", fixed(*cost.lead_k_steps, 4), from + "; " + exposure),
      parameter("lead-v-steps", fixed(*cost.lead_v_steps, 4),
                from + "; as K's, from which durations do not tell it"),
      parameter("waits-a-tile", fixed(cost.waits_a_tile, 4), from + "; " + exposure),
      parameter("exposure-error", fixed(exposure_error(fitted), 3),
                from + "; half of the 90 % interval of what a miss costs, as a share of it")};
  const std::string counted = from + "; from DRAM reads";
  if (cost.sm_spread)
    parameters.push_back(parameter("sm-spread", shortest(*cost.sm_spread), counted));
  if (cost.spill_bytes > 0)
    parameters.push_back(parameter("spill-bytes", std::to_string(cost.spill_bytes), counted));
  if (cost.power_slowness > 0)
    parameters.push_back(parameter("power-slowness", fixed(cost.power_slowness, 4),
                                   from + "; from its longest launch"));
  return parameters;
}

}  // namespace sawtooth::experiments
