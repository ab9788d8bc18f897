// What a model of L2 counts, in sectors of 32 bytes, with the meaning of NVIDIA's counters.
// An empty value means that the model has no such counter; it is never 0 for "unknown".
#pragma once

#include <cstdint>
#include <optional>

namespace sawtooth::sim {

using Sectors = std::optional<int64_t>;

struct Counters {
  Sectors sm_read_sectors;           // received by SMs, before the request coalescer
  Sectors l2_read_sectors;           // reads by SMs that reach L2
  Sectors l2_read_miss_sectors;      // of these, missed in the half that was asked first (near)
  Sectors l2_write_sectors;          // writes by SMs
  Sectors l2_write_miss_sectors;     // of these, allocated at this write
  Sectors fabric_read_sectors;       // near misses looked up in the far half; two-half L2 only
  Sectors fabric_read_miss_sectors;  // of these, missed there too
  Sectors dram_read_sectors;
  Sectors dram_write_sectors;
  Sectors cold_read_sectors;  // compulsory reads: every sector that is read, once
};

}  // namespace sawtooth::sim
