// Visible tiles as lists, for masks by which a tile sees no range of tiles: documents, sinks,
// blocks. Places in such a list stand for its tiles, and Item::scanned is a range of places: scans
// order, turn and cut lists as they do ranges.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth {

/// Tiles of one side, ascending, for each tile of the other side that sees them: those of tile t
/// stand at places begin[t] to begin[t + 1] - 1. All heads have the same. Not owned.
struct TileLists {
  const int64_t* begin = nullptr;
  const int32_t* tiles = nullptr;

  SAWTOOTH_HD constexpr Range places(int64_t tile) const { return {begin[tile], begin[tile + 1]}; }
  /// The first place in `among` whose tile is `tile` or lies behind it; among.end if none does.
  SAWTOOTH_HD constexpr int64_t first_from(Range among, int64_t tile) const {
    while (among.begin < among.end) {
      const int64_t middle = among.begin + (among.end - among.begin) / 2;
      (tiles[middle] < tile ? among.begin : among.end) = middle + (tiles[middle] < tile ? 1 : 0);
    }
    return among.begin;
  }
  /// The places of `among` whose tiles lie in `wanted`.
  SAWTOOTH_HD constexpr Range within(Range among, Range wanted) const {
    return {first_from(among, wanted.begin), first_from(among, wanted.end)};
  }
};

/// Those of a mask: of Q tiles, which scan K/V tiles, and of K/V tiles, which scan Q tiles.
struct ListedTiles {
  TileLists of_q, of_kv;
  double pairs = 0;  // of a query row and a key that it sees, in one head
};

/// Whether the mask has lists. Kernels take none, and their code has no branch for them.
SAWTOOTH_HD constexpr bool is_listed([[maybe_unused]] const Mask& mask) {
#if defined(__CUDA_ARCH__)
  return false;
#else
  return mask.listed != nullptr;
#endif
}

}  // namespace sawtooth
