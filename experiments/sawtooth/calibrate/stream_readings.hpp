// Stream counters as shares of the buffer, one reading a point and pass: what a model is fitted to
// and judged by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

/// Sectors / sectors of the buffer.
struct StreamShares {
  double dram = 0;
  double near = 0;
  double fabric = 0;
  double fabric_miss = 0;
};

struct StreamReading {
  StreamPoint point;
  bool second_pass = false;
  StreamShares shares;           // medians of the repetitions
  StreamShares low;              // 5 % of the repetitions are below, as compare has it
  StreamShares high;             // 95 %
  std::optional<double> passed;  // reads that reach L2 / sectors that SMs receive
};

/// Reads of same, shift and all, in the order of their first rows. Throws std::invalid_argument
/// for a row without one of the four counters: another chip than one of two halves.
std::vector<StreamReading> stream_readings(const std::vector<StreamRow>& rows);

/// What a model may be off: DRAM reads 0.02, and 0.06 on the cliff (0.45 to 0.81 of L2: 28 to 48
/// MiB of 60); near misses, fabric reads and fabric misses 0.03.
StreamShares stream_tolerances(const StreamPoint& point, int64_t l2_bytes);

/// For messages: "ld same reversed 40 MiB".
std::string name_of(const StreamPoint& point);

}  // namespace sawtooth::experiments
