// The timed wavefront: workers walk their items in time. docs/models/timed.md explains it on two
// pages.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/schedule/link_traffic.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/timed/memory.hpp"
#include "sim/timed/parameters.hpp"

namespace sawtooth::sim {

/// When a schedule is launched, and what looks on.
struct TimedLaunch {
  double begin_ns = 0;             // in the memory's time
  LinkTraffic* traffic = nullptr;  // beside it
  /// `seen` is called with the time when one of the items from each of `watched`, ascending, on has
  /// begun.
  std::vector<int64_t> watched = {};
  std::function<void(double ns)> seen = {};
};

struct TimedReplay {
  double end_ns = 0;
  int64_t tile_visits = 0;
  TimePhases phases;  // one for each item of a worker
};

/// Replays the whole schedule. Throws std::invalid_argument for what has no replay in time (loop =
/// kv-outer, more stages than eight, CTAs that wait for one that has not begun).
TimedReplay replay_in_time(const Request& request, const TimedParameters& parameters,
                           LiveAtoms& atoms, TimedMemory& memory, const TimedLaunch& launch = {});

}  // namespace sawtooth::sim
