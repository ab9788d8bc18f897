// Rows as an ideal L2 would give them: what each kind of pass must read is known by hand.
#pragma once

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

using cupti::L2Counter;

inline void set(StreamRow& row, L2Counter counter, int64_t value) {
  row.counts[static_cast<size_t>(counter)] = value;
}

/// A read of `mib` MiB of which `dram_share` comes from DRAM, half of the lines through the fabric:
/// near misses = DRAM reads, fabric reads = fabric misses = half of them.
inline StreamRow read_row(StreamShape shape, bool reversed, int64_t mib, const char* range,
                          double dram_share, int repetition = 0) {
  StreamRow row;
  row.point = {kernels::StreamAccess::ld, shape, reversed, mib};
  row.range = range;
  row.repetition = repetition;
  row.buffer_sectors = mib * 32768;  // 2^20 / 32
  row.expected_sectors = row.buffer_sectors * (shape == StreamShape::all ? 132 : 1);
  const auto dram = static_cast<int64_t>(dram_share * double(row.buffer_sectors));
  set(row, L2Counter::dram_read, dram);
  set(row, L2Counter::fill_device, dram);
  set(row, L2Counter::l2_read_miss, dram);
  set(row, L2Counter::fabric_read, dram / 2);
  set(row, L2Counter::fabric_read_miss, dram / 2);
  set(row, L2Counter::sm_read, row.expected_sectors);
  set(row, L2Counter::l2_read, row.expected_sectors);
  row.dram_read_by_pass = {dram, dram};
  return row;
}

}  // namespace sawtooth::experiments
