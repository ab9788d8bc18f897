// Parts of a sweep for several machines. A point's part follows from its run_id alone, so that it
// is the same in a list that has more points or another order.
#pragma once

#include <cstdint>
#include <string_view>

#include "experiments/sawtooth/inputs/settings.hpp"

namespace sawtooth::experiments {

struct Shard {
  uint64_t number = 1;  // from 1 to `count`
  uint64_t count = 1;

  bool has(std::string_view run_id) const;
};

/// What the option shard says, all of the sweep without it; throws UsageError.
Shard shard_of(const Settings& outputs);

}  // namespace sawtooth::experiments
