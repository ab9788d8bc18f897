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

/// Keys that a query row sees inside the tiles of its list: those of two ranges, of which each may
/// be empty.
struct alignas(16) KeySpans {
  int32_t early_begin = 0, early_end = 0;
  int32_t begin = 0, end = 0;

  SAWTOOTH_HD constexpr bool contain(int64_t key) const {
    return (key >= early_begin && key < early_end) || (key >= begin && key < end);
  }
};

/// Those of a mask: of Q tiles, which scan K/V tiles, and of K/V tiles, which scan Q tiles.
struct ListedTiles {
  TileLists of_q, of_kv;
  double pairs = 0;                 // of a query row and a key that it sees, in one head
  int64_t q_rows = 0, kv_rows = 0;  // of a tile
  const KeySpans* spans = nullptr;  // one a query row; null: rows see all keys of their tiles
};

/// Whether query row `row` sees key `key`.
constexpr bool sees(const ListedTiles& lists, int64_t row, int64_t key) {
  const int64_t tile = key / lists.kv_rows;
  const Range places = lists.of_q.places(row / lists.q_rows);
  const int64_t place = lists.of_q.first_from(places, tile);
  return place < places.end && lists.of_q.tiles[place] == tile &&
         (lists.spans == nullptr || lists.spans[row].contain(key));
}

/// Whether the mask has lists, on the host. Kernels that take lists have them beside the problem;
/// the code of the others has no branch for them.
SAWTOOTH_HD constexpr bool is_listed([[maybe_unused]] const Mask& mask) {
#if defined(__CUDA_ARCH__)
  return false;
#else
  return mask.listed != nullptr;
#endif
}

}  // namespace sawtooth
