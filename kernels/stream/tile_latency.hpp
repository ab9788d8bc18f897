// How long a whole tile takes from its request by cp.async to its last line.
//
// One CTA an SM. Readers ask for a tile of their own, or all for the same one, in step: they leave
// a barrier, wait for one moment of the global timer, and read their SM's clock before the first
// request and after the last line. Before the barrier the tile is put where it is to be found.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/stream/l2_state.hpp"
#include "kernels/stream/sm_ranks.hpp"

namespace sawtooth::kernels {

/// near: read before by the readers themselves. dram: not in L2.
enum class TilePlace : uint8_t { near, dram };
inline constexpr std::string_view tile_place_names[] = {"near", "dram"};

struct TileCase {
  int64_t tile_bytes = 32768;  // 4096, 8192, 16384, 32768 or 65536
  int readers = 1;
  bool same_tile = false;
  TilePlace place = TilePlace::near;
};

/// Times in nanoseconds, one a round and reader, round after round.
struct TileTimes {
  int readers = 0;
  std::vector<float> ns;
};

class TileLatency {
 public:
  /// Throws CudaError.
  explicit TileLatency(SmRanks& sms);

  /// Runs `rounds` rounds with tiles that were not used before; synchronises. Throws
  /// std::invalid_argument for a case that cannot be run, std::runtime_error when a CTA waits for
  /// the others longer than 0.2 s.
  TileTimes run(const TileCase& what, int rounds);

 private:
  SmRanks& sms_;
  L2State l2_;
  DeviceBuffer tiles_;
  DeviceBuffer state_;
};

}  // namespace sawtooth::kernels
