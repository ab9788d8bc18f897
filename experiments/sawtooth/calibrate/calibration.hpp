// A calibration of the GPU at hand: streams under counters, the map of L2's halves, latencies and
// bandwidths, and what they say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_campaign.hpp"
#include "experiments/sawtooth/calibrate/stream_checks.hpp"
#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "kernels/stream/l2_halves.hpp"

namespace sawtooth::experiments {

struct Calibration {
  std::vector<StreamRow> rows;
  kernels::L2HalfMap halves;
  std::vector<double> near_miss_share;  // by SM; empty where the chip has no such counter
  std::vector<Figure> figures;
  std::vector<CheckLine> checks;
};

/// Bytes of the buffer that DRAM bandwidth is read from.
inline constexpr int64_t dram_buffer_mib = 1024;

/// Runs everything with a campaign whose buffer holds at least dram_buffer_mib. `report` is called
/// before each part with one line.
Calibration run_calibration(StreamCampaign& campaign, int repetitions,
                            const std::function<void(const std::string&)>& report);

}  // namespace sawtooth::experiments
