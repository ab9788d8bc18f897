// What the backward pass is not defined for, or not modelled in: said once, by the key that is
// wrong and what is allowed, for the command line and for who calls a model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/request.hpp"

namespace sawtooth::sim {

struct BackwardFault {
  std::string_view key;
  std::string_view what;
};

/// Empty for a forward pass, and for a backward one that the schedule and the wavefronts know.
inline std::optional<BackwardFault> backward_fault(const Request& request) {
  const Schedule& schedule = request.schedule;
  if (request.problem.pass == Pass::forward) return std::nullopt;
  if (schedule.loop == Loop::kv_outer)
    return BackwardFault{"loop", "has no effect with pass = backward: its items are K/V tiles"};
  if (schedule.kv_split > 1)
    return BackwardFault{"kv-split", "pass = backward has no parts of K/V; allowed: 1"};
  if (schedule.launch == launch_id<BalancedLaunch>)
    return BackwardFault{
        "launch", "balanced cuts along K/V; allowed with pass = backward: grid, static, dynamic"};
  if (schedule.prefetch > 0)
    return BackwardFault{"prefetch", "pass = backward is not modelled with it; allowed: 0"};
  if (request.log_sum_exp)
    return BackwardFault{"lse", "pass = backward reads log-sum-exp and writes none; allowed: off"};
  if (schedule.dq == Dq::separate && schedule.order.list != nullptr)
    return BackwardFault{"dq",
                         "separate has a kernel of Q tiles, which an order of K/V tiles does "
                         "not order; allowed with order-file: atomic"};
  if (request.timing == Timing::timed)
    return BackwardFault{
        "timing", "pass = backward is not modelled in time; allowed: lockstep, lockstep-wave"};
  if (schedule.dq == Dq::ordered)
    return BackwardFault{"dq",
                         "ordered differs from atomic in waits alone, which lockstep does "
                         "not have; allowed: atomic, separate"};
  return std::nullopt;
}

/// Throws std::invalid_argument with the fault.
void require_backward_limits(const Request& request);
/// Throws std::invalid_argument for a backward pass, which `model` does not know.
void require_forward(const Request& request, const std::string& model);

}  // namespace sawtooth::sim
