// The map of L2's halves, told twice: by latencies (kernels/stream/l2_halves.hpp) and by counters.
#pragma once

#include <iosfwd>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_campaign.hpp"
#include "experiments/sawtooth/calibrate/stream_checks.hpp"
#include "kernels/stream/l2_halves.hpp"

namespace sawtooth::experiments {

/// For every SM: near misses as a share of 1 MiB that the SM of rank 0 has just read. About 0.5
/// when the SM sits at the other half (the lines that rank 0's half owns are not there yet), about
/// 0 when it sits at the same one.
std::vector<double> near_miss_share_by_sm(StreamCampaign& campaign);

/// Latencies and counters put every SM at the same half.
CheckLine check_halves_agree(const kernels::L2HalfMap& map, const std::vector<double>& near_miss);

/// rank, smid, half, far_share (latencies), near_miss_share (counters); a line an SM.
void write_sm_halves_csv(std::ostream& out, const kernels::SmRanks& sms,
                         const kernels::L2HalfMap& map, const std::vector<double>& near_miss);

/// line, half: the owner of each of a sample of consecutive lines.
void write_line_halves_csv(std::ostream& out, const kernels::L2HalfMap& map);

}  // namespace sawtooth::experiments
