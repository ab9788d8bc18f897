// The model's side of a calibration: fit, held-out judgement and the files that they give.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <vector>

#include "experiments/sawtooth/calibrate/fit_streams.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

/// Fits to every other size and judges the others, then fits to all; says both on `out`. Writes
/// fit.csv, halves.ini (sections for a GPU profile) and model_counters.csv (the model's streams,
/// for `sawtooth plot calibration`) into `folder`. `from` names the readings.
StreamFit fit_and_write(const std::filesystem::path& folder, const std::vector<StreamRow>& rows,
                        int64_t l2_bytes, int64_t sms, int ways, const std::string& from,
                        std::ostream& out);

/// What `sawtooth calibrate` does without a GPU: the above from recorded readings (`--from FILE
/// --gpu NAME`), or files from records of items (calibrate_items). Empty: neither was asked for.
std::optional<int> calibrate_recorded(const ParsedCommandLine& parsed);

/// Ways where a profile does not say: assumed, hashed sets hide them.
inline constexpr int assumed_ways = 16;

}  // namespace sawtooth::experiments
