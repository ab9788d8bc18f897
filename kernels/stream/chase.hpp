// Pointer chase: one thread of one SM follows a chain of lines, each load waiting for the last, so
// that each step's time is the latency of where its line was found.
// Idea: Saavedra and Smith, "Measuring cache and TLB performance", IEEE ToC 1995.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/stream/sm_ranks.hpp"

namespace sawtooth::kernels {

/// What a chase saw, by line of its buffer.
struct ChaseSample {
  std::vector<uint32_t> cycles;  // SM clock cycles from issue to use, by line
  double ns_per_step = 0;        // by the GPU's global timer, over the whole chase
};

class Chase {
 public:
  /// Lines of the longest chase: their cycles are kept in shared memory while it runs.
  static constexpr int64_t max_lines = 8192;

  explicit Chase(SmRanks& sms);

  /// Writes a random cycle through all `lines` lines at `data` (128-byte aligned), the same for the
  /// same seed. Leaves the lines in L2, dirty. Throws std::invalid_argument when lines is not in
  /// [1, max_lines].
  void write_chain(void* data, int64_t lines, uint64_t seed);

  /// Follows the chain at `data` once around from the SM of `rank`; synchronises.
  ChaseSample run(int rank, const void* data, int64_t lines);

 private:
  SmRanks& sms_;
  DeviceBuffer cycles_;
  DeviceBuffer nanoseconds_;
  size_t exclusive_bytes_ = 0;
};

}  // namespace sawtooth::kernels
