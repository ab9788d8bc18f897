// A schedule in time on an L2 of one block or two halves (timing = timed).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/schedule/link_traffic.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/timed/memory.hpp"
#include "sim/timed/parameters.hpp"

namespace sawtooth::sim {

/// All counters of sim/counters.hpp, by tensor and in total, the duration, and where the workers'
/// time goes. K and V of a tile are read together, so their counts are halves of the pair's. The
/// histogram stays empty. Randomness comes from request.schedule.seed and request.launch alone.
/// For a backward pass this is the main kernel; under dq = ordered additions wait for their turn.
/// Throws std::invalid_argument for tiles that share lines, for loop = kv-outer, and for CTAs that
/// wait for one that has not begun.
Prediction simulate_timed(const Request& request, const TimedParameters& parameters);

/// What a launch from a cold L2 reads beside its tensors, on top of `total`.
void add_launch_reads(Counters& total, const TimedParameters& parameters);

/// The result is one of request.launches launches, each with random numbers of its own: the one
/// with the median of DRAM reads (the lower one of two). Throws std::invalid_argument as
/// timed_parameters and simulate_timed.
Prediction median_launch(const Request& request, const Gpu& gpu, bool halves);

/// Of many heads that are alike the first `replayed` ones stand for all, by what the second `step`
/// of them adds, as every further one adds what the one before did. What SMs read and write and
/// compulsory reads come out exact, the rest within parts of a thousand (docs/models/timed.md).
struct RepeatedHeads {
  int64_t step = 0, replayed = 0;
};

/// Nothing where heads differ, where workers with shares of their own drift ever further apart, or
/// where the replay would cost over half of the whole.
std::optional<RepeatedHeads> repeated_heads(const Request& request);

// The timed wavefront: workers walk their items in time. docs/models/timed.md explains it on two
// pages.

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
