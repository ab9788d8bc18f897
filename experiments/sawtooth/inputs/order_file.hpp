// An explicit work order: one item a line, "batch head q_tile [part]", each item exactly once;
// # begins a comment.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/schedule.hpp"

namespace sawtooth::experiments {

/// Throws UsageError that begins with place(i) where item i of `list` does not exist or is there
/// twice, and with place(list.size()) where items are missing.
void check_order(const std::vector<WorkCoordinates>& list, const Problem& problem,
                 const Tiling& tiling, const Schedule& schedule,
                 const std::function<std::string(size_t)>& place);

/// Throws UsageError that names the line.
std::vector<WorkCoordinates> read_order_file(const std::string& path, const Problem& problem,
                                             const Tiling& tiling, const Schedule& schedule);

}  // namespace sawtooth::experiments
