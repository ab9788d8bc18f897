// The layout of an H200's SMs, as records of items have it (experiments/profiles/gpus/h200.ini; a
// test of that file holds the two together).
#pragma once

#include "sim/gpu.hpp"

namespace sawtooth::tests {

inline sim::SmLayout recorded_layout() {
  const sim::TpcRun front{.gpc = 0, .first_tpc = 4, .tpcs = 4};
  const sim::TpcRun back{.gpc = 0, .first_tpc = 0, .tpcs = 4};
  sim::SmLayout layout;
  layout.gpc_sms = {16, 16, 16, 16, 16, 16, 18, 18};
  layout.gpc_half = {0, 1, 1, 1, 0, 0, 0, 1};
  layout.cta_order = {front, back, {1}, {2}, {3}, {4}, front, {5}, {6},
                      {7},   back, {1}, {2}, {3}, {4}, {5},   {6}, {7}};
  layout.tpc_turns = {{4, 5, 7, 2, 3, 6, 0, 1}, {4, 5, 8, 2, 3, 7, 0, 1, 6}};
  return layout;
}

}  // namespace sawtooth::tests
