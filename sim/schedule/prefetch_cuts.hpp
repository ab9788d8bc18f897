// Where the wave prefetch cuts the tiles of K and V, so that a model of whole atoms stays exact.
//
// Sharers that stand at one tile in one step touch all of it, one part after the other: the tile is
// one atom. Otherwise a tile's parts are touched at different times, and each is an atom.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/schedule.hpp"

namespace sawtooth::sim {

/// Lines of a K/V tile at which an atom begins, ascending from 0; {0} where tiles stay whole.
std::vector<int64_t> prefetch_cuts(const Problem& problem, const Tiling& tiling,
                                   const Schedule& schedule);

}  // namespace sawtooth::sim
