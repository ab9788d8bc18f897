// The model's side of a calibration: fit, held-out judgement and the files that they give.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "experiments/sawtooth/calibrate/fit_streams.hpp"
#include "experiments/sawtooth/inputs/settings.hpp"

namespace sawtooth::experiments {

/// Fits to every other size and judges the others, then fits to all; says both on `out`. Writes
/// fit.csv, halves.ini (sections for a GPU profile) and model_counters.csv (the model's streams,
/// for plots/figures/calibration.py) into `folder`. `from` names the readings.
StreamFit fit_and_write(const std::filesystem::path& folder, const std::vector<StreamRow>& rows,
                        int64_t l2_bytes, int64_t sms, int ways, const std::string& from,
                        std::ostream& out);

/// `sawtooth calibrate --from FILE --gpu NAME`: the above from recorded readings, without a GPU.
int calibrate_from(const Settings& settings);

/// Ways where a profile does not say: assumed, hashed sets hide them.
inline constexpr int assumed_ways = 16;

}  // namespace sawtooth::experiments
