// The scan: in which order an item visits the n tiles that it scans: visible K/V tiles, of the
// backward pass the Q tiles that see it, again for every head of its group.
//
// A scan is a pure function: step k of item i visits the tile at position tile(context, k), and
// over k = 0 .. n - 1 every position of [0, n) occurs once. To add your own, write such a struct
// and name it in `Scans` below (docs/guide/tutorial.md walks through it). What models may make of a
// scan stands in its `traits`; one without them is replayed step by step and costs nothing beside.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/permutation.hpp"
#include "scheduler/policy_list.hpp"

namespace sawtooth {

/// All that a scan may look at; the same on the simulator's host and in a kernel.
struct ScanContext {
  int64_t tiles = 0;         // n, the tiles that the item scans (of one head)
  int64_t item = 0;          // index in the work order
  int64_t items_before = 0;  // items this worker has had before; item / workers under grid
  int64_t own_tile = 0;      // the item's Q tile, of the backward pass its K/V tile
  int64_t workers = 1;
  int64_t attach_position = 0;  // where the K/V head's attach word points, clamped to [0, n)
  uint64_t seed = 0;
};

struct ScanTraits {
  bool straight = false;    // to the last tile or back, by something that alternates at most
  bool one_a_wave = false;  // items of one head and one wave, equally long, scan alike
  bool attaches = true;     // looks at attach_position
};

SAWTOOTH_HD constexpr int64_t forwards_or_backwards(int64_t parity, int64_t step, int64_t tiles) {
  return parity % 2 == 0 ? step : tiles - 1 - step;
}

struct LinearScan {
  static constexpr std::string_view name = "linear";
  static constexpr std::string_view description = "first tile to last";
  static constexpr ScanTraits traits{.straight = true, .one_a_wave = true, .attaches = false};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext&, int64_t step) { return step; }
};

struct ReverseScan {
  static constexpr std::string_view name = "reverse";
  static constexpr std::string_view description = "last tile to first (FlashAttention-2 and -3)";
  static constexpr ScanTraits traits{.straight = true, .one_a_wave = true, .attaches = false};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext& context, int64_t step) {
    return context.tiles - 1 - step;
  }
};

/// Algorithm 4 of "Sawtooth Wavefront Reordering" (arXiv 2601.16032).
struct SawtoothScan {
  static constexpr std::string_view name = "sawtooth";
  static constexpr std::string_view description =
      "forwards and backwards in turn, by the worker's own item counter (the paper's)";
  static constexpr ScanTraits traits{.straight = true, .one_a_wave = true, .attaches = false};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext& context, int64_t step) {
    return forwards_or_backwards(context.items_before, step, context.tiles);
  }
};

struct SawtoothItemScan {
  static constexpr std::string_view name = "sawtooth-item";
  static constexpr std::string_view description =
      "forwards and backwards by the parity of the item's own tile";
  static constexpr ScanTraits traits{.straight = true, .attaches = false};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext& context, int64_t step) {
    return forwards_or_backwards(context.own_tile, step, context.tiles);
  }
};

struct SawtoothWaveScan {
  static constexpr std::string_view name = "sawtooth-wave";
  static constexpr std::string_view description =
      "forwards and backwards by the parity of floor(item index / workers)";
  static constexpr ScanTraits traits{.straight = true, .one_a_wave = true, .attaches = false};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext& context, int64_t step) {
    return forwards_or_backwards(context.item / context.workers, step, context.tiles);
  }
};

struct AttachScan {
  static constexpr std::string_view name = "attach";
  static constexpr std::string_view description =
      "starts at the tile last started by any CTA on this K/V head, ascends and wraps";
  static constexpr ScanTraits traits{.one_a_wave = true};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext& context, int64_t step) {
    const int64_t position = context.attach_position + step;
    return position < context.tiles ? position : position - context.tiles;
  }
};

/// No two items that run together are at one tile, where there are as many tiles as items: the
/// shift of DASH (arXiv 2601.21824), so that their additions to dQ do not meet.
struct ShiftScan {
  static constexpr std::string_view name = "shift";
  static constexpr std::string_view description =
      "item i begins at tile i mod n, ascends and wraps (DASH)";
  static constexpr ScanTraits traits{.attaches = false};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext& context, int64_t step) {
    // In 32 bits, all of which orders below 4 billion items have: a remainder in 64 bits takes many
    // registers.
    const int64_t position = int64_t(uint32_t(context.item) % uint32_t(context.tiles)) + step;
    return position < context.tiles ? position : position - context.tiles;
  }
};

struct RandomScan {
  static constexpr std::string_view name = "random";
  static constexpr std::string_view description = "a seeded permutation an item (a null test)";
  static constexpr ScanTraits traits{.attaches = false};
  SAWTOOTH_HD static constexpr int64_t tile(const ScanContext& context, int64_t step) {
    return permuted(step, context.tiles, mix_seed(context.seed, uint64_t(context.item)));
  }
};

}  // namespace sawtooth

// A scan of your own can also come from outside the tree: build with
// -DSAWTOOTH_OWN_SCAN_HEADER=<path> -DSAWTOOTH_OWN_SCAN=<struct name> (CMake cache variables).
#if defined(SAWTOOTH_OWN_SCAN_HEADER)
#include SAWTOOTH_OWN_SCAN_HEADER
#define SAWTOOTH_OWN_SCAN_IN_LIST , SAWTOOTH_OWN_SCAN
#else
#define SAWTOOTH_OWN_SCAN_IN_LIST
#endif

namespace sawtooth {

using Scans = PolicyList<LinearScan, ReverseScan, SawtoothScan, SawtoothItemScan, SawtoothWaveScan,
                         AttachScan, ShiftScan, RandomScan SAWTOOTH_OWN_SCAN_IN_LIST>;

struct ScanId {
  int32_t index = 0;
  friend constexpr bool operator==(ScanId, ScanId) = default;
};
template <class Policy>
inline constexpr ScanId scan_id{Scans::index_of<Policy>()};

template <class Scan>
constexpr ScanTraits traits_in() {
  if constexpr (requires { Scan::traits; })
    return Scan::traits;
  else
    return {};
}
template <class... Listed>
constexpr std::array<ScanTraits, sizeof...(Listed)> traits_in(PolicyList<Listed...>) {
  return {traits_in<Listed>()...};
}
constexpr ScanTraits traits_of(ScanId scan) {
  return traits_in(Scans{})[static_cast<size_t>(scan.index)];
}

/// Position in [0, n) of the tile that step `step` visits; 0 <= step < n = context.tiles.
SAWTOOTH_HD constexpr int64_t scan_position(ScanId scan, const ScanContext& context, int64_t step) {
  return Scans::dispatch(scan.index,
                         [&](auto policy) { return decltype(policy)::tile(context, step); });
}

}  // namespace sawtooth
