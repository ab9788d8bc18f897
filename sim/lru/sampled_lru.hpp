// Fewer tiles stand for all, for schedules that are too large to replay exactly: spatial sampling
// by a hash of the tile's number (SHARDS: Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC
// Construction with SHARDS", FAST 2015, sections 2 and 3).
//
// A tile is followed from its first to its last visit, or never. A share R of the tiles sees about
// R of the distinct lines between two visits, so distances are divided by R. What needs no distance
// is counted over all tiles: accesses, first touches, the hits of lockstep; sampling is left with
// which share of the other visits misses.
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// Estimates what simulate_lru counts, from a share request.sample of the tiles, chosen by
/// request.schedule.seed. `sampling` of the result holds the 95 % intervals: from the spread
/// between groups of tiles (the jackknife: Efron, "The Jackknife, the Bootstrap and Other
/// Resampling Plans", 1982) and from the error that each distance has (Wilson, J. American
/// Statistical Association 22, 1927). Throws std::invalid_argument when too few tiles would be
/// followed.
Prediction simulate_sampled_lru(const Request& request);

}  // namespace sawtooth::sim
