// The kernel behind lockstep_patterns.hpp: one CTA an SM, a barrier over the grid after every step.
#pragma once

#include <cstdint>

#include "kernels/stream/l2_halves.hpp"
#include "kernels/stream/lockstep_patterns.hpp"
#include "kernels/stream/sm_ranks.hpp"

namespace sawtooth::kernels {

/// Where tiles lie: the first half of tile i at first + i * stride, the second one at
/// second + i * stride. Together, a tile is contiguous, as where K and V are one allocation; apart,
/// its halves lie in two regions, as K and V in allocations of their own.
struct LockstepPlace {
  const char* first = nullptr;
  const char* second = nullptr;
  int64_t stride_bytes = lockstep_tile_bytes;

  static LockstepPlace together(const char* data) {
    return {data, data + lockstep_tile_bytes / 2, lockstep_tile_bytes};
  }
  static LockstepPlace apart(const char* first, const char* second) {
    return {first, second, lockstep_tile_bytes / 2};
  }
};

class LockstepReads {
 public:
  /// Takes as many SMs of each half as the smaller one has. Throws std::runtime_error where L2 has
  /// one part, CudaError.
  LockstepReads(SmRanks& sms, const L2HalfMap& map);

  int64_t per_half() const { return per_half_; }

  /// `order.tiles` in device memory.
  static DeviceBuffer upload(const LockstepOrder& order);

  /// Enqueues `steps` steps of `table` on the default stream.
  void launch(const LockstepPattern& pattern, const DeviceBuffer& table, int64_t steps,
              const LockstepPlace& place);

  /// Synchronises; throws std::runtime_error when a CTA waited in vain for the others, or shared
  /// its SM, since the last call.
  void check();

 private:
  SmRanks& sms_;
  int64_t per_half_ = 0;
  DeviceBuffer seat_of_rank_;
  DeviceBuffer state_;
  size_t exclusive_bytes_ = 0;
};

}  // namespace sawtooth::kernels
