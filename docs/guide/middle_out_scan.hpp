// A scan of one's own: starts in the middle of the visible K/V tiles and goes outwards, one tile
// to the right, one to the left, in turn (docs/guide/tutorial.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/host_device.hpp"

struct MiddleOutScan {
  static constexpr std::string_view name = "middle-out";
  static constexpr std::string_view description = "from the middle tile outwards, right and left";

  // Steps 0, 1, 2, 3, 4 of five tiles visit positions 2, 3, 1, 4, 0.
  template <class Context>
  SAWTOOTH_HD static constexpr int64_t tile(const Context& context, int64_t step) {
    const int64_t middle = (context.tiles - 1) / 2;
    const int64_t distance = (step + 1) / 2;
    return step % 2 == 1 ? middle + distance : middle - distance;
  }
};
