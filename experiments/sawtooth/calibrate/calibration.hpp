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
  // For every SM: near misses as a share of 1 MiB that the SM of rank 0 has just read. About 0.5
  // when the SM sits at the other half (the lines that rank 0's half owns are not there yet), about
  // 0 when it sits at the same one.
  std::vector<double> near_miss_share;
  std::vector<Figure> figures;
  std::vector<CheckLine> checks;
};

/// Bytes of the buffer that DRAM bandwidth is read from.
inline constexpr int64_t dram_buffer_mib = 1024;

/// Runs everything with a campaign whose buffer holds at least dram_buffer_mib. `report` is called
/// before each part with one line.
Calibration run_calibration(StreamCampaign& campaign, int repetitions,
                            const std::function<void(const std::string&)>& report);

/// rank, smid, half, far_share (latencies), near_miss_share (counters); a line an SM.
std::string sm_halves_csv(const kernels::SmRanks& sms, const Calibration& calibration);
/// line, half: the owner of each of a sample of consecutive lines.
std::string line_halves_csv(const kernels::L2HalfMap& map);

}  // namespace sawtooth::experiments
