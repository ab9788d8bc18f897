// Random small problems and schedules for property tests: every mask, ragged lengths, lengths that
// differ, GQA, every policy, kv-split and kv-outer. A row is one line, so that tiles never share.
#pragma once

#include <rapidcheck.h>

#include "scheduler/tiling.hpp"
#include "sim/request.hpp"

namespace sawtooth::tests {

/// Uniform in [low, high]: resized, because rapidcheck narrows ranges in its early cases.
inline int64_t between(int64_t low, int64_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1));
}

inline Problem any_problem() {
  Problem problem;
  problem.batch = between(1, 2);
  problem.kv_heads = between(1, 3);
  problem.heads = problem.kv_heads * between(1, 3);
  problem.seq_q = between(1, 40);
  problem.seq_kv = between(1, 40);
  problem.head_dim = 64;  // 64 two-byte elements are one line
  problem.mask.kind = static_cast<MaskKind>(between(0, 2));
  problem.mask.window = problem.mask.kind == MaskKind::window ? between(1, 45) : 0;
  return problem;
}

inline Tiling any_tiling() {
  return {.q_rows = between(1, 9), .kv_rows = between(1, 9)};
}

inline Schedule any_schedule(const Problem& problem) {
  Schedule schedule;
  schedule.loop = between(0, 4) == 0 ? Loop::kv_outer : Loop::kv_inner;
  schedule.kv_split = schedule.loop == Loop::kv_outer ? 1 : between(1, 3);
  schedule.order.section = between(1, problem.batch * problem.heads * schedule.kv_split + 1);
  schedule.order.q_order = {static_cast<int32_t>(between(0, QOrders::size - 1))};
  schedule.order.head_order = static_cast<HeadOrder>(between(0, 1));
  schedule.launch = {static_cast<int32_t>(between(0, Launches::size - 1))};
  schedule.scan = {static_cast<int32_t>(between(0, Scans::size - 1))};
  schedule.workers = between(1, 12);
  schedule.seed = static_cast<uint64_t>(between(0, 1000));
  return schedule;
}

inline sim::Request any_unpacked_request() {
  sim::Request request;
  request.problem = any_problem();
  request.tiling = any_tiling();
  request.schedule = any_schedule(request.problem);
  request.timing = static_cast<sim::Timing>(between(0, 1));
  request.log_sum_exp = between(0, 1) == 1;
  request.l2_bytes = between(0, 400) * 128;
  return request;
}

/// Also with the query heads of a group packed.
inline sim::Request any_request() {
  sim::Request request = any_unpacked_request();
  if (between(0, 3) > 0) return request;
  request.tiling = packed(request.tiling, request.problem);
  request.problem = packed(request.problem);
  return request;
}

/// The request is one of the backward pass, with values that it is defined for.
inline sim::Request any_backward_request() {
  sim::Request request = any_unpacked_request();
  request.problem.pass = Pass::backward;
  request.log_sum_exp = false;
  Schedule& schedule = request.schedule;
  schedule.loop = Loop::kv_inner;
  schedule.kv_split = 1;
  if (schedule.launch == launch_id<BalancedLaunch>) schedule.launch = launch_id<StaticLaunch>;
  schedule.order.section = between(1, request.problem.batch * request.problem.kv_heads + 1);
  schedule.dq = between(0, 1) == 0 ? Dq::atomic : Dq::separate;
  schedule.small_kernels = between(0, 1) == 1;
  return request;
}

}  // namespace sawtooth::tests
