// What a K/V tile step costs an SM: the tensor cores' share by FLOP, the exponentials' share by
// their number, what every step does once, and what none of them fills.
#pragma once

#include <algorithm>

#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"
#include "sim/timed/parameters.hpp"

namespace sawtooth::sim {

/// Of a step of the backward pass, the product that gives dQ: one of five.
inline constexpr double dq_share = 0.2;

struct StepCost {
  double tensor_ns = 0;
  double exp_ns = 0;
  double fixed_ns = 0;
  double exposed_ns = 0;

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

/// Of a whole tile: rows that the mask hides are computed too.
inline StepCost step_cost(const StepParameters& parameters, const Problem& problem,
                          const Tiling& tiling) {
  // Q K^T and P V; of the backward pass S, dP, dV, dK and dQ.
  const double products = problem.pass == Pass::forward ? 2 : 5;
  constexpr double flop_a_term = 2;  // a product and a sum
  const double pairs = double(tiling.q_rows) * double(tiling.kv_rows);
  const auto time = [](double work, double rate) { return rate > 0 ? work / rate : 0; };
  StepCost cost{.tensor_ns = time(products * flop_a_term * pairs * double(problem.head_dim),
                                  parameters.tensor_flop_a_ns),
                .exp_ns = time(pairs, parameters.exp_a_ns),
                .fixed_ns = parameters.fixed_ns,
                .exposed_ns = parameters.exposed_ns};
  if (cost.exp_ns > 0) cost.bias = parameters.age_bias * cost.exp_ns / cost.pipe_ns();
  return cost;
}

}  // namespace sawtooth::sim
