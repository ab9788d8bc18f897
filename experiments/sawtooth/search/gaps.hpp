// How far a schedule is from what no schedule can beat.
#pragma once

#include <cstdint>
#include <optional>

#include "experiments/sawtooth/search/space.hpp"

namespace sawtooth::experiments {

/// The least of all configurations (tiling, workers, kv-split, cut last wave) of a space; empty
/// where a model lacks what it takes.
struct SpaceBounds {
  std::optional<int64_t> dram_read_sectors;
  std::optional<double> time_us;
};
SpaceBounds bounds_of(const Shape& shape);

/// DRAM reads of the candidate's own order in lockstep under Belady's replacement.
std::optional<int64_t> optimal_replacement_reads(const Candidate& candidate);

}  // namespace sawtooth::experiments
