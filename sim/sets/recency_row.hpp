// A set of up to 16 ways: the tags of its lines, the last one of which leaves first. An access
// looks for its tag, puts it first, and moves the tags before the place where it was (LRU) or all
// of them (a miss) one place on: a few instructions on vectors of 32-bit tags, without a branch.
#pragma once

#include <cstdint>

namespace sawtooth::sim {

struct alignas(64) RecencyRow {
  static constexpr uint32_t ways = 16;
  uint32_t tags[ways];
};

}  // namespace sawtooth::sim
