// How long a whole tile takes from its request to its last line.
//
// One CTA an SM. Readers ask for a tile of their own, or all for the same one, in step: they leave
// a barrier, wait for one moment of the global timer, and read their SM's clock before the first
// request and after the last line. Before the barrier the tile is put where it is to be found. The
// remaining SMs can load L2 or DRAM meanwhile.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/stream/l2_halves.hpp"

namespace sawtooth::kernels {

enum class TileLoad : uint8_t { ld, cp_async, tma };
inline constexpr std::string_view tile_load_names[] = {"ld", "cp.async", "tma"};

/// near: read before by SMs of the readers' half. far: read before by SMs of the other half alone,
/// so that lines at home there cross the fabric. dram: not in L2. coming: as dram, but an SM that
/// is no reader asks for the same tile `ahead_ns` earlier.
enum class TilePlace : uint8_t { near, far, dram, coming };
inline constexpr std::string_view tile_place_names[] = {"near", "far", "dram", "coming"};

/// What the SMs that are not readers do: nothing, read 8 MiB that L2 holds, read 1 GiB.
enum class TileBackground : uint8_t { none, l2, dram };
inline constexpr std::string_view tile_background_names[] = {"none", "l2", "dram"};

struct TileCase {
  TileLoad load = TileLoad::ld;
  int64_t tile_bytes = 32768;  // 4096, 8192, 16384, 32768 or 65536
  int readers = 1;             // of half 0 first, then of half 1
  bool same_tile = false;
  TilePlace place = TilePlace::near;
  TileBackground background = TileBackground::none;
  int64_t ahead_ns = 0;
};

/// Times in nanoseconds, one a round and reader, round after round.
struct TileTimes {
  int readers = 0;
  std::vector<float> ns;
};

class TileLatency {
 public:
  /// `map` says which SM sits at which half. Throws CudaError.
  TileLatency(SmRanks& sms, const L2HalfMap& map);

  /// Whether the case can be run: far and coming need spare SMs, far one half's readers alone.
  bool can_run(const TileCase& what) const;

  /// Runs `rounds` rounds with tiles that were not used before; synchronises. Throws
  /// std::invalid_argument for a case that cannot be run, std::runtime_error when a CTA waits for
  /// the others longer than 0.2 s.
  TileTimes run(const TileCase& what, int rounds);

 private:
  std::vector<int> ranks_of_half_[2];
  SmRanks& sms_;
  L2State l2_;
  DeviceBuffer tiles_;
  DeviceBuffer background_;
  DeviceBuffer state_;
};

}  // namespace sawtooth::kernels
