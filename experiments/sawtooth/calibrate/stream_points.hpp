// Which streams a calibration runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

/// Sizes that show a cache of `l2_bytes`: from 2/15 of it to a good two times it, closer together
/// around the cliff. On 60 MiB: 8, 16, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128 MiB.
std::vector<int64_t> stream_sizes_mib(int64_t l2_bytes);

/// Every point of a calibration; `tma` says whether the GPU has bulk copies.
std::vector<StreamPoint> stream_points(int64_t l2_bytes, bool tma);

/// What a calibration counts, in the order that packs into the fewest passes: misses first, as each
/// class of lookups opens a replay pass of its own.
std::span<const cupti::L2Counter> stream_counters();

}  // namespace sawtooth::experiments
