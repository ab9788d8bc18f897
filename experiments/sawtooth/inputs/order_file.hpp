// An explicit work order: one item a line, "batch head q_tile [part]", each item exactly once;
// # begins a comment.
#pragma once

#include <string>
#include <vector>

#include "scheduler/schedule.hpp"

namespace sawtooth::experiments {

/// Throws UsageError that names the line.
std::vector<WorkCoordinates> read_order_file(const std::string& path, const Problem& problem,
                                             const Tiling& tiling, const Schedule& schedule);

}  // namespace sawtooth::experiments
