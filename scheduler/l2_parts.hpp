// A GPU whose L2 has parts, each the L2 of its own SMs: CTAs go to the parts in turn, `run`
// neighbours at a time, so that part p has CTAs p * run ... p * run + run - 1, then those a round
// further. AMD's MI300X deals single workgroups (arXiv 2511.02132, section 2).
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"

namespace sawtooth {

struct L2Parts {
  int64_t count = 1;
  int64_t run = 1;

  SAWTOOTH_HD constexpr int64_t part_of(int64_t item) const { return item / run % count; }
  /// Its place among the items of its part.
  SAWTOOTH_HD constexpr int64_t place_of(int64_t item) const {
    return item / (run * count) * run + item % run;
  }
  /// How many of `items` items `part` has.
  SAWTOOTH_HD constexpr int64_t items_of(int64_t part, int64_t items) const {
    const int64_t last_round = items % (run * count);
    return items / (run * count) * run + clamp_to(last_round - part * run, 0, run);
  }
  SAWTOOTH_HD constexpr int64_t item_at(int64_t part, int64_t place) const {
    return place / run * (run * count) + part * run + place % run;
  }
  /// Which item of an order CTA `item` takes so that every part has its own run of the order: whole
  /// heads, where they divide by the parts (Swizzled Head-first Mapping, arXiv 2511.02132).
  SAWTOOTH_HD constexpr int64_t item_by_part(int64_t item, int64_t items) const {
    int64_t first = 0;
    for (int64_t part = 0; part < part_of(item); ++part) first += items_of(part, items);
    return first + place_of(item);
  }
};

}  // namespace sawtooth
