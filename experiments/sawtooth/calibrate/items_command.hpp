// `sawtooth calibrate --gpu NAME --items ...`: what records of items say, as a kernel's file.
#pragma once

#include <string>

#include "experiments/sawtooth/inputs/settings.hpp"

namespace sawtooth::experiments {

/// Writes kernel.ini into the output folder: what items of launches of one family take on the GPU
/// that is named, the file of its kernel costs being where the constants are from. --items names
/// launches.csv, or rows of `measure`, with their records as `items_path`; of these it writes
/// launches.csv too. Needs no GPU. Throws UsageError.
int calibrate_items(const Settings& settings, const std::string& items_path);

}  // namespace sawtooth::experiments
