// The judgement of an order that a launch recorded.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/common/order_trace.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels {

/// What a launch recorded, on the host.
struct RecordedTrace {
  std::span<const ItemRecord> items;
  std::span<const StepRecord> steps;
  int64_t steps_per_item = 0;
};

/// Empty when every item ran exactly once, by a worker that the launch allows, and every sequence
/// of tiles equals the scan of the recorded counter and start, of the backward pass for every head
/// of the group; else what is wrong.
std::string judge_trace(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                        const RecordedTrace& trace);

}  // namespace sawtooth::kernels
