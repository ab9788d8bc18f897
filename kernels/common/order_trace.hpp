// The order in which a launch really worked: what each CTA did, where and when.
// Off (null pointers) whenever counters or times are read.
#pragma once

#include <cstdint>

namespace sawtooth::kernels {

struct StepRecord {
  uint64_t start_ns = 0;  // of the GPU's global timer
  int32_t kv_tile = -1;   // of the backward pass the Q tile
  int32_t sm = -1;
};

struct ItemRecord {
  uint64_t start_ns = 0;
  int64_t worker = -1;  // CTA number
  int64_t items_before = -1;
  int64_t attach_tile = -1;
  uint32_t times_started = 0;  // 1 in a correct launch
  int32_t steps = -1;
};

/// Device memory: items[item_count], steps[item_count * steps_per_item]; steps_per_item is at
/// least the number of K/V tiles, of the backward pass that of a group's Q tiles. The caller zeroes
/// `times_started`.
struct OrderTrace {
  ItemRecord* items = nullptr;
  StepRecord* steps = nullptr;
  int64_t steps_per_item = 0;
};

}  // namespace sawtooth::kernels
