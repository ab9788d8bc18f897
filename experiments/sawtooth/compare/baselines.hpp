// The simple rules that a model has to beat, computed for the points of a comparison.
//
//   compulsory      every sector that is read comes from DRAM once
//   LRU, full       lockstep LRU of the GPU's whole L2
//   LRU, half       the same of one half, where L2 has two and lines that all SMs read live in both
//   halves          the two-half model of L2 under lockstep, where the GPU has one calibrated
#pragma once

#include <vector>

#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// Rows of results.csv: each baseline at each point of `keys` (cells of join_columns()), simulated
/// with the point's own problem and schedule. A baseline that a GPU has no parameters for is left
/// out there. Their version column begins with baseline_prefix. Throws UsageError for a key that is
/// no point of this program's.
CsvTable simulate_baselines(const std::vector<CsvRow>& keys);

}  // namespace sawtooth::experiments
