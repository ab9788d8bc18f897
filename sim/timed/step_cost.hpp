// What a K/V tile step costs an SM: the tensor cores' share by FLOP, the exponentials' share by
// their number, what every step does once, and what none of them fills.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"
#include "sim/schedule/roles.hpp"
#include "sim/timed/parameters.hpp"

namespace sawtooth::sim {

/// The product that gives dQ is one of five of a step of the backward pass.
inline constexpr double dq_share = 0.2;

struct StepCost {
  double tensor_ns = 0, exp_ns = 0, fixed_ns = 0, exposed_ns = 0;

  double bias = 0;  // of the oldest CTA on an SM

  double pipe_ns() const { return tensor_ns + exp_ns + fixed_ns; }
  double alone_ns() const { return pipe_ns() + exposed_ns; }

  /// For the `rank`-oldest (from 0) of `ctas` that compute on one SM.
  double shared_ns(int ctas, int rank) const {
    if (ctas < 2) return alone_ns();
    const double seniority = double(ctas - 1 - 2 * rank) / double(ctas - 1);  // 1 ... -1
    return std::max(alone_ns(), pipe_ns() * ctas / (1 + bias * seniority));
  }
};

/// The cost is that of a whole tile: rows that the mask hides are computed too.
inline StepCost step_cost(const StepParameters& parameters, const Problem& problem,
                          const Tiling& tiling) {
  const double pairs = double(tiling.q_rows) * double(tiling.kv_rows);
  const auto time = [](double work, double rate) { return rate > 0 ? work / rate : 0; };
  StepCost cost{.tensor_ns = time(problem.flop_a_pair() * pairs, parameters.tensor_flop_a_ns),
                .exp_ns = time(pairs, parameters.exp_a_ns),
                .fixed_ns = parameters.fixed_ns,
                .exposed_ns = parameters.exposed_ns};
  if (cost.exp_ns > 0) cost.bias = parameters.age_bias * cost.exp_ns / cost.pipe_ns();
  return cost;
}

// Where in a step its worker asks for tiles and waits for them: K is used when the step begins, V
// in its middle, behind the softmax, and each tile is asked for its lead before that.

/// Whether a step asks for K and V together, as one atom: in the forward pass, without leads, where
/// their rows are alike.
inline bool keeps_pairs(const Request& request, const StepParameters& step) {
  return request.problem.pass == Pass::forward && !step.leads && request.problem.rows_alike();
}

/// K or V is asked for at `asks_at` of a step: the tile of the step `ahead` steps on.
struct TileAsk {
  double asks_at = 0;  // from 0 to below 1
  int64_t ahead = 0;
};

class StepPoints {
 public:
  struct Point {
    double at = 0;               // as a share of the step
    std::array<bool, 2> asks{};  // of K and of V
    std::array<bool, 2> uses{};  // it waits for this step's tile
  };

  explicit StepPoints(const Leads& leads)
      : asks_{ask_of(leads.k_steps, uses_at[0]), ask_of(leads.v_steps, uses_at[1])} {
    std::array<double, 4> at{uses_at[0], uses_at[1], asks_[0].asks_at, asks_[1].asks_at};
    std::sort(at.begin(), at.end());
    count_ = static_cast<int>(std::unique(at.begin(), at.end()) - at.begin());
    for (size_t p = 0; p < static_cast<size_t>(count_); ++p) {
      points_[p].at = at[p];
      for (size_t t = 0; t < 2; ++t) {
        points_[p].asks[t] = at[p] == asks_[t].asks_at;
        points_[p].uses[t] = at[p] == uses_at[t];
      }
    }
  }

  int count() const { return count_; }
  const Point& operator[](int point) const { return points_[static_cast<size_t>(point)]; }
  /// From this point to the next one, or to the end of the step, as a share of it.
  double length(int point) const {
    return (point + 1 < count_ ? (*this)[point + 1].at : 1.0) - (*this)[point].at;
  }
  const TileAsk& ask(size_t tensor) const { return asks_[tensor]; }
  /// Without lead: at the moment of its use.
  bool asks_at_use(size_t tensor) const {
    return asks_[tensor].ahead == 0 && asks_[tensor].asks_at == uses_at[tensor];
  }

 private:
  static constexpr std::array<double, 2> uses_at{0.0, 0.5};

  static TileAsk ask_of(double lead, double use) {
    const double steps_before = std::ceil(lead - use);
    const double ahead = std::max(0.0, steps_before);
    return {ahead + use - lead, static_cast<int64_t>(ahead)};
  }

  std::array<TileAsk, 2> asks_;
  std::array<Point, 4> points_{};
  int count_ = 0;
};

}  // namespace sawtooth::sim
