// What the backward pass and sequences of different lengths are not defined for, or not modelled
// in: said once, by the key that is wrong and what is allowed, for the command line and for who
// calls a model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/request.hpp"

namespace sawtooth::sim {

struct Fault {
  std::string_view key;
  std::string_view what;
};

/// Empty for a forward pass, and for a backward one that the schedule and the wavefronts know.
inline std::optional<Fault> backward_fault(const Request& request) {
  const Schedule& schedule = request.schedule;
  if (request.problem.pass == Pass::forward) return std::nullopt;
  if (schedule.loop == Loop::kv_outer)
    return Fault{"loop", "has no effect with pass = backward: its items are K/V tiles"};
  if (request.problem.heads_per_kv_head() % schedule.kv_split != 0)
    return Fault{"kv-split",
                 "pass = backward deals the query heads of a K/V head to the parts; allowed: "
                 "divisors of heads / kv-heads"};
  if (schedule.launch == launch_id<BalancedLaunch>)
    return Fault{"launch",
                 "balanced cuts along K/V; allowed with pass = backward: grid, static, dynamic"};
  if (schedule.prefetch > 0)
    return Fault{"prefetch", "pass = backward is not modelled with it; allowed: 0"};
  if (request.log_sum_exp)
    return Fault{"lse", "pass = backward reads log-sum-exp and writes none; allowed: off"};
  if (schedule.dq == Dq::separate && schedule.order.list != nullptr)
    return Fault{"dq",
                 "separate has a kernel of Q tiles, which an order of K/V tiles does "
                 "not order; allowed with order-file: atomic"};
  if (schedule.dq == Dq::ordered && schedule.order.list != nullptr)
    return Fault{"dq", "ordered follows section and q-order; allowed with order-file: atomic"};
  if (schedule.dq == Dq::ordered && request.timing != Timing::timed)
    return Fault{"dq",
                 "ordered differs from atomic in waits alone, which lockstep does "
                 "not have; allowed: atomic, separate, or timing = timed"};
  return std::nullopt;
}

/// What `timing = timed` alone does not predict, and kernels run: said of a prediction, not of a
/// point.
inline std::optional<Fault> timed_fault(const Request& request) {
  const Schedule& schedule = request.schedule;
  if (request.problem.pass == Pass::forward || request.timing != Timing::timed) return std::nullopt;
  if (schedule.dq == Dq::separate)
    return Fault{"dq",
                 "separate launches a second kernel, and timing = timed has the main one alone; "
                 "allowed: atomic, ordered"};
  if (schedule.small_kernels)
    return Fault{"small-kernels", "timing = timed has the main kernel alone; allowed: off"};
  return std::nullopt;
}

/// Empty where all sequences have one length, and for a schedule that is known for others.
inline std::optional<Fault> sequences_fault(const Request& request) {
  const Schedule& schedule = request.schedule;
  if (request.sequences.lengths == nullptr) return std::nullopt;
  if (request.problem.pass == Pass::backward)
    return Fault{"pass", "backward takes sequences of one length; allowed with lengths: forward"};
  if (schedule.loop == Loop::kv_outer)
    return Fault{"loop", "kv-outer takes sequences of one length; allowed with lengths: kv-inner"};
  if (schedule.launch == launch_id<BalancedLaunch>)
    return Fault{"launch",
                 "balanced cuts items of one length; allowed with lengths: grid, static, dynamic"};
  if (schedule.prefetch > 0) return Fault{"prefetch", "is not modelled with lengths; allowed: 0"};
  return std::nullopt;
}

/// Empty for masks without lists of tiles, and with them for what lists are defined for.
inline std::optional<Fault> listed_fault(const Request& request) {
  if (request.problem.mask.kind != MaskKind::listed) return std::nullopt;
  if (request.sequences.lengths != nullptr || request.sequences.prefix.shared())
    return Fault{"mask",
                 "lists of tiles are those of sequences alike; allowed with lengths and "
                 "prefix: none, causal, window:W"};
  if (request.problem.pass == Pass::backward && request.schedule.dq == Dq::ordered)
    return Fault{"dq",
                 "ordered counts the tiles of a range; allowed with lists of tiles: atomic, "
                 "separate"};
  return std::nullopt;
}

/// Throws std::invalid_argument with the fault.
void require_limits(const Request& request);
/// Throws std::invalid_argument for a backward pass, which `model` does not know.
void require_forward(const Request& request, const std::string& model);

// What equal shares, shared prefixes, cascades and pages are not defined for, or not modelled in.

/// Empty where the request has none of them, or has them in a way that all wavefronts know.
std::optional<Fault> serving_fault(const Request& request);

}  // namespace sawtooth::sim
