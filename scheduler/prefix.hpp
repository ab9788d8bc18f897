// A prefix that groups of sequences share: their first `keys` keys are the same rows of K and V in
// memory, such as a system prompt. Groups are neighbours: sequences [n group, (n + 1) group), the
// last one has what is left. The keys of a group lie where its first sequence has them.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"

namespace sawtooth {

struct Prefix {
  int64_t keys = 0;   // whole K/V tiles; 0: nothing is shared
  int64_t group = 1;  // sequences

  SAWTOOTH_HD constexpr bool shared() const { return keys > 0; }
  /// The sequence that has the prefix of sequence `sequence` in memory.
  SAWTOOTH_HD constexpr int64_t first_of_group(int64_t sequence) const {
    return sequence - sequence % group;
  }
  SAWTOOTH_HD constexpr bool owns(int64_t sequence) const {
    return !shared() || sequence % group == 0;
  }
  /// K/V tiles of the prefix, of `kv_rows` rows each.
  SAWTOOTH_HD constexpr int64_t tiles(int64_t kv_rows) const { return keys / kv_rows; }
  /// The sequence in whose memory K/V tile `tile` of sequence `sequence` lies.
  SAWTOOTH_HD constexpr int64_t owner(int64_t sequence, int64_t tile, int64_t kv_rows) const {
    return shared() && tile < tiles(kv_rows) ? first_of_group(sequence) : sequence;
  }
};

}  // namespace sawtooth
