// The two halves of an H200, from its calibration streams (experiments/measured/h200/streams).
//
// These values were chosen with all of that table in view, so agreement with the table shows that
// the mechanism can describe it, not that it predicts another GPU (docs/two-half-l2.md).
#pragma once

#include "sim/coalescer.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/streams.hpp"

namespace sawtooth::sim {

constexpr HalvesParameters h200_halves() {
  HalvesParameters parameters;
  parameters.capacity_lines = int64_t{30} << 13;  // 30 MiB, half of the datasheet's L2
  parameters.ways = 12;                 // effective; slope of `same` linear between 32 and 56 MiB
  parameters.private_share = 0.9475;    // `same` linear and reversed
  parameters.edge_low = 0.815;          // `all` linear, 24 and 28 MiB
  parameters.edge_high = 1.075;         // `all` linear, 32 and 40 MiB
  parameters.far_first_waiting = 0.20;  // fabric misses of a cold `all` pass
  parameters.far_first_running = 0.43;  // fabric misses of the second passes of `all`
  return parameters;
}

constexpr CoalescerParameters h200_coalescer() {
  // l2 / sm sectors of `all`: cold passes, and second passes that fit.
  return {.sms = 132, .waiting_share = 0.266, .running_share = 0.61};
}

/// How that GPU ran the streams: crossing from the smallest `shift` stream, skews from `same`.
constexpr StreamRun h200_stream_run() {
  return {.sms = 132,
          .crossing = 0.697,
          .steady_skew_bytes = 2.7 * (1 << 20),
          .fresh_skew_bytes = 2.2 * (1 << 20)};
}

}  // namespace sawtooth::sim
