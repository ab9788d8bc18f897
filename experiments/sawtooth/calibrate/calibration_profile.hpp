// A GPU profile in the program's own format (experiments/profiles/gpus), written from a
// calibration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_figures.hpp"

namespace sawtooth::experiments {

struct MeasuredGpu {
  std::string description;  // e.g. "NVIDIA H200"
  int64_t sms = 0;
  int64_t l2_bytes = 0;
  int64_t shared_memory_block_bytes = 0;
  std::string max_sm_clock_mhz;  // "unknown" leaves the parameter out
  std::string how;               // driver and date, for the notes
};

/// The text of a profile: each parameter with value, source `measured` and a note that says how.
/// Figures that are not there leave their parameter out.
std::string gpu_profile_ini(const MeasuredGpu& gpu, const std::vector<Figure>& figures);

/// The text of a die's calibration file: which half each SM sits at, in the order of SM ranks.
std::string die_ini(const std::string& uuid_hash, const std::string& name,
                    const std::vector<int>& half_of_sm, const std::string& how);

}  // namespace sawtooth::experiments
