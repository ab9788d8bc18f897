// Stamps of a launch: which CTA was at which K/V tile of which item, on which SM and when. Kernels
// write them with kernels/common/order_stamp.cuh or its Triton counterpart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/measure/measured_wavefront.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct Stamps {
  int64_t heads = 0;  // of all batches
  int64_t q_tiles = 0;
  std::vector<RecordedStep> steps;  // by time; `worker` is the CTA, `item` head * q_tiles + q_tile
};

/// Columns cta, item, tile, sm, time_ns with item = head * q_tiles + q_tile, or those of
/// `measure --order-trace`, where `q_tiles` may be 0. Throws UsageError with file and line.
Stamps read_stamps(const CsvTable& table, int64_t q_tiles);

/// What one CTA did of one item, its tiles in the order of time.
struct StampedRun {
  int64_t cta = 0;
  int64_t item = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  std::vector<int64_t> tiles;
  bool whole = true;  // no other CTA was at this item
};

/// By first stamp.
std::vector<StampedRun> runs_of(const Stamps& stamps);

}  // namespace sawtooth::experiments
