#include "experiments/sawtooth/teach/fit_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/support/ordered_workers.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/time_units.hpp"
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
constexpr double most_moved = 0.8;     // latencies a round, for slopes hold no further
constexpr int most_rounds = 5;
// The fit ends with the round that moves neither by more than this.
constexpr double settled_step_share = 2e-3;
constexpr double settled_exposed = 0.01;  // latencies
constexpr double normal_90 = 1.645;       // of a normal distribution, 90 % lie within
// So little of a latency that the tile may as well have been asked for a whole step before.
constexpr double hidden = 0.02;
constexpr double most_lead = 7;  // that the simulator keeps loads for

enum Index { step, item, exposed, apart, index_count };

// Beyond the step of CTAs that share an SM: what a lone one takes longer than its share.
using Costs = Eigen::Vector4d;

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
    for (const TaughtRow& row : rows_) {
      most_ctas_ = std::max(most_ctas_, row.point.keys.ctas_per_sm);
      least_ctas_ = std::min(least_ctas_, row.point.keys.ctas_per_sm);
    }
    free_[apart] = least_ctas_ == 1 && most_ctas_ > 1;
  }

  bool tells_sharing() const { return free_[apart]; }
  const Latencies& latencies() const { return latencies_; }

  /// Costs as the simulator takes them.
  sim::KernelCost cost_of(const Costs& costs) const {
    sim::KernelCost cost = rows_.front().point.request.kernel;
    cost.step_ns = costs[step] / double(most_ctas_);
    cost.exposed_ns = costs[apart];
    cost.item_begin_ns = 0;
    cost.item_end_ns = costs[item];
    cost.item_spread_ns = 0;
    cost.age_bias = 0;
    cost.age_bias_prefetch.reset();
    cost.keep_step = most_ctas_ > 1;
    const double waits = std::max(1.0, costs[exposed]);
    const double hidden_ns =
        latencies_.near_ns + latencies_.bytes_ns +
        (1 - std::min(1.0, costs[exposed])) * (latencies_.dram_ns - latencies_.near_ns);
    cost.lead_k_steps = costs[exposed] < hidden ? 1 : std::min(most_lead, hidden_ns / costs[step]);
    cost.lead_v_steps = cost.lead_k_steps;
    cost.waits_a_tile = waits;
    return cost;
  }

  std::vector<double> predict(const Costs& costs) {
    const sim::KernelCost cost = cost_of(costs);
    std::vector<double> times;
    run_in_order(
        rows_.size(), threads_, [&](size_t i) { return predicted_ns(rows_[i].point, cost, i); },
        [&](size_t, double ns) { times.push_back(ns); }, [] {});
    return times;
  }

  /// Least squares by the chord method: the step and the item count as often as a CTA does them,
  /// and what exposure costs is asked of the simulator once, and anew where the costs have left
  /// that place.
  Costs run() {
    count_work();
    Costs costs{first_step(), usual_item_ns, first_exposed, 0};
    times_ = predict(costs);
    Eigen::MatrixXd slopes = slopes_at(costs, times_);
    for (int round = 0; round < most_rounds; ++round) {
      const Costs wanted = bounded_step(costs, slopes) - costs;
      const Costs moved = wanted * std::min(1.0, most_moved / std::abs(wanted[exposed]));
      costs += moved;
      times_ = predict(costs);
      if (std::abs(moved[step]) < settled_step_share * costs[step] &&
          std::abs(moved[exposed]) < settled_exposed)
        break;
      constexpr double far = 0.25;
      if (std::abs(moved[exposed]) > far) slopes = slopes_at(costs, times_);
    }
    const double spare = std::max(1.0, double(rows_.size()) - double(free_count()) + 1);
    const double loss = residuals(costs, times_).squaredNorm();
    spread_ = inverse_of(slopes) * std::max(1.0, loss / spare);
    return costs;
  }

  const std::vector<double>& times() const { return times_; }
  double deviation(Index i) const { return std::sqrt(std::max(0.0, spread_(i, i))); }

 private:
  double predicted_ns(const Point& point, const sim::KernelCost& cost, size_t row) const {
    sim::Request request = point.request;
    request.kernel = cost;
    sim::Gpu gpu = point.gpu;
    // K and V lie in both halves from the launch before.
    if (rows_[row].warm) gpu.latency_far_ns = gpu.latency_dram_ns = gpu.latency_near_ns;
    try {
      return *experiments::predict(request, gpu, *point.keys.l2).time_us * ns_a_us;
    } catch (const std::invalid_argument& error) {  // what the GPU's profile lacks
      throw UsageError(error.what());
    }
  }

  // Steps and items that follow each other in a launch.
  void count_work() {
    for (const TaughtRow& row : rows_) {
      const sim::Request& request = row.point.request;
      const int64_t items = item_count(request.problem, request.tiling, request.schedule);
      const double rounds = double(ceil_div(items, request.schedule.workers));
      const double tiles = double(kv_tiles(request.problem, request.tiling));
      const bool causal = request.problem.mask.kind == MaskKind::causal;
      items_.push_back(rounds);
      steps_.push_back(rounds * tiles * (causal ? 0.5 : 1.0));
    }
  }
  double first_step() const {
    double least = rows_.front().time_ns;
    for (size_t i = 0; i < rows_.size(); ++i) least = std::min(least, rows_[i].time_ns / steps_[i]);
    return least;
  }
  static Costs bounded(const Costs& costs) {
    return {std::max(50.0, costs[step]), std::clamp(costs[item], 0.0, 500'000.0),
            std::clamp(costs[exposed], 0.0, 32.0), std::clamp(costs[apart], 0.0, costs[step])};
  }
  int free_count() const { return int(std::count(free_.begin(), free_.end(), true)); }

  Eigen::VectorXd residuals(const Costs& costs, const std::vector<double>& times) const {
    Eigen::VectorXd made(rows_.size() + 1);
    for (size_t i = 0; i < rows_.size(); ++i)
      made[Eigen::Index(i)] = (times[i] / rows_[i].time_ns - 1) / scatter;
    made[Eigen::Index(rows_.size())] = (costs[item] - usual_item_ns) / spread_of_item_ns;
    return made;
  }
  Eigen::MatrixXd slopes_at(const Costs& costs, const std::vector<double>& times) {
    constexpr double moved = 0.2;
    Costs other = costs;
    other[exposed] += moved;
    const std::vector<double> exposed_times = predict(other);
    Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(Eigen::Index(rows_.size()) + 1, index_count);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const auto row = Eigen::Index(i);
      const double scale = 1 / rows_[i].time_ns / scatter;
      const bool alone = rows_[i].point.keys.ctas_per_sm < most_ctas_;
      slopes(row, step) = steps_[i] * scale / (alone ? double(most_ctas_) : 1.0);
      slopes(row, item) = items_[i] * scale;
      slopes(row, exposed) = (exposed_times[i] - times[i]) / moved * scale;
      slopes(row, apart) = alone ? steps_[i] * scale : 0;
    }
    slopes(Eigen::Index(rows_.size()), item) = 1 / spread_of_item_ns;
    return slopes;
  }
  // What is not free does not move.
  static Eigen::Matrix4d normal_of(const Eigen::MatrixXd& slopes,
                                   const std::array<bool, index_count>& free) {
    Eigen::Matrix4d normal = slopes.transpose() * slopes;
    for (int i = 0; i < index_count; ++i) {
      constexpr double flat = 1e-12;
      if (free[size_t(i)] && normal(i, i) > flat) continue;
      normal.row(i).setZero();
      normal.col(i).setZero();
      normal(i, i) = 1;
    }
    return normal;
  }
  // Where a number would leave its bounds it stays on them, and the others are solved for anew.
  Costs bounded_step(const Costs& costs, const Eigen::MatrixXd& slopes) const {
    const Eigen::VectorXd residual = residuals(costs, times_);
    std::array<bool, index_count> free = free_;
    Costs fixed_step = Costs::Zero();
    for (int round = 0; round < index_count; ++round) {
      const Eigen::Vector4d right = -(slopes.transpose() * (residual + slopes * fixed_step));
      Costs moved = fixed_step;
      const Eigen::Vector4d solved = normal_of(slopes, free).ldlt().solve(right);
      for (int i = 0; i < index_count; ++i)
        if (free[size_t(i)]) moved[i] = solved[i];
      const Costs next = costs + moved, allowed = bounded(next);
      bool inside = true;
      for (int i = 0; i < index_count; ++i) {
        if (allowed[i] == next[i]) continue;
        inside = false;
        free[size_t(i)] = false;
        fixed_step[i] = allowed[i] - costs[i];
      }
      if (inside) return next;
    }
    return bounded(costs + fixed_step);
  }
  Eigen::Matrix4d inverse_of(const Eigen::MatrixXd& slopes) const {
    return normal_of(slopes, free_).inverse();
  }

  const std::vector<TaughtRow>& rows_;
  size_t threads_;
  Latencies latencies_;
  int64_t most_ctas_ = 1, least_ctas_ = 32;
  std::array<bool, index_count> free_{true, true, true, false};
  std::vector<double> steps_, items_, times_;
  Eigen::Matrix4d spread_ = Eigen::Matrix4d::Zero();
};

Estimate estimate(double value, double deviation) {
  return {value, std::max(0.0, value - normal_90 * deviation), value + normal_90 * deviation};
}

}  // namespace

FittedCosts fit_costs(const TaughtRows& taught, size_t threads) {
  Fit fit(taught, threads);
  const Costs costs = fit.run();
  for (size_t i = 0; i < taught.rows.size(); ++i) {
    const double off = fit.times()[i] / taught.rows[i].time_ns - 1;
    if (std::abs(off) <= contradiction) continue;
    throw UsageError(taught.path + ":" + std::to_string(taught.rows[i].line) +
                     ": time_us = " + fixed(taught.rows[i].time_ns / ns_a_us, 1) +
                     " contradicts the other rows, which give " +
                     fixed(fit.times()[i] / ns_a_us, 1) +
                     "; allowed: rows of one kernel within 15 % of the fit");
  }
  FittedCosts fitted;
  fitted.cost = fit.cost_of(costs);
  fitted.step_ns = estimate(costs[step], fit.deviation(step));
  fitted.item_ns = estimate(costs[item], fit.deviation(item));
  fitted.exposed = estimate(costs[exposed], fit.deviation(exposed));
  const double tiles = 2;  // K and V
  const double latency_ns = tiles * (fit.latencies().dram_ns - fit.latencies().near_ns);
  fitted.miss_ns = {latency_ns * fitted.exposed.value, latency_ns * fitted.exposed.low,
                    latency_ns * fitted.exposed.high};
  fitted.tells_sharing = fit.tells_sharing();
  fitted.predicted_ns = fit.times();
  return fitted;
}

}  // namespace sawtooth::experiments
