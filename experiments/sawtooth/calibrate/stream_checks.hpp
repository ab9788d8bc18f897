// What must be true of stream counters on any GPU, whatever its L2: the counters check themselves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

struct CheckLine {
  std::string name;
  bool passed = false;
  std::string detail;  // the figures, the worst point and the tolerance
};

/// Every check, or the one called `name`; one that saw no row has not passed.
/// docs/models/streams.md says what each of them is, and how much it allows.
std::vector<CheckLine> check_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes,
                                     std::string_view name = {});

/// "PASS name: detail" or "FAIL ...", a line each.
std::string checks_text(const std::vector<CheckLine>& checks);
bool all_passed(const std::vector<CheckLine>& checks);

}  // namespace sawtooth::experiments
