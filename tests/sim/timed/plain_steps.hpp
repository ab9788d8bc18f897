// Points whose durations are derived by hand: a line a row, a row a tile, steps of 1000 ns.
#pragma once

#include "sim/timed/simulate_timed.hpp"

namespace sawtooth::sim {

// Rows of one line, tiles of one row: a step has 2 x 2 x 1 x 64 FLOP.
inline constexpr double flop_a_step = 256;
inline constexpr double step_ns = 1000;

inline Request request_of(int64_t q_tiles, int64_t kv_tiles, int64_t workers) {
  Request request;
  request.problem = {.seq_q = q_tiles, .seq_kv = kv_tiles, .head_dim = 64};
  request.tiling = {1, 1};
  request.schedule.workers = workers;
  request.timing = Timing::timed;
  return request;
}

// Steps of 1000 ns, no latency, no limits, an L2 that holds everything.
inline TimedParameters plain_parameters(int64_t sms) {
  TimedParameters parameters;
  parameters.sms = sms;
  parameters.l2.lines.capacity_lines = 1'000'000'000;
  parameters.step.tensor_flop_a_ns = flop_a_step / step_ns;
  return parameters;
}

inline double duration_ns(const Request& request, const TimedParameters& parameters) {
  return *simulate_timed(request, parameters).time_us * 1000;
}

}  // namespace sawtooth::sim
