// Which accumulators of a row a lane holds: those of mma and of wgmma repeat the same columns.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/tile_lists.hpp"

namespace sawtooth::kernels {

/// One bit a place: the accumulators of a row, 64 at most, whose columns lie in
/// [begin, end), counted from the lane's first and not negative. Two of every
/// eight columns are the lane's own.
SAWTOOTH_HD constexpr uint64_t accumulators_between(int begin, int end) {
  const auto before = [](unsigned column) {
    const unsigned places = column / 8 * 2 + (column % 8 < 2 ? column % 8 : 2);
    return places < 64 ? (uint64_t(1) << places) - 1 : ~uint64_t(0);
  };
  return before(unsigned(end)) & ~before(unsigned(begin));
}

/// Those of a row with these spans; `first_key` is the lane's first of `keys`, at most 256.
SAWTOOTH_HD constexpr uint64_t accumulators_in(const KeySpans& spans, int first_key, int keys) {
  const auto column = [&](int key) {
    const int from_first = key - first_key;
    return from_first < 0 ? 0 : from_first < keys ? from_first : keys;
  };
  return accumulators_between(column(spans.early_begin), column(spans.early_end)) |
         accumulators_between(column(spans.begin), column(spans.end));
}

}  // namespace sawtooth::kernels
