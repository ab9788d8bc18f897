// `sawtooth calibrate --gpu NAME --items ROWS.csv ITEMS.csv`: what records of items say, as files.
#pragma once

#include <string>

#include "experiments/sawtooth/inputs/settings.hpp"

namespace sawtooth::experiments {

/// Writes gpu.ini, kernel.ini and die.ini into the output folder: the files of the GPU that is
/// named with the values that the records show in the place of theirs, and the die that they are
/// of. Needs no GPU. Throws UsageError.
int calibrate_items(const Settings& settings, const std::string& items_path);

}  // namespace sawtooth::experiments
