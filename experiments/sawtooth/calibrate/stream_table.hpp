// Reads back what `sawtooth calibrate` wrote, so that recorded readings are checked without a GPU.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

/// Rows of a stream CSV, also of older tables with the same column names. Rows of other sets, modes
/// and flushes than a calibration's are left out. Throws UsageError that names file and line.
std::vector<StreamRow> read_stream_csv(const std::string& path);

}  // namespace sawtooth::experiments
