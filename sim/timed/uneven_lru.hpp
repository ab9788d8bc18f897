// A half of L2 whose sets are not all equally full: a share of the lines has a little less room,
// the others a little more, and each kind is a plain LRU of whole tiles.
//
// Evidence (experiments/measured/h200/stream_counters.csv, map `all`): read in circles, 28 MiB miss
// 1 %, 32 MiB 73 % and 36 MiB everything, while 29.2 MiB of any larger buffer are found again on
// the way back. One capacity gives neither; 73 % of the lines in 28.1 MiB and the others in 32.3
// MiB of a whole buffer give both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/halves/atom_lru.hpp"

namespace sawtooth::sim {

/// A kind of sets: the share of all lines that map to them, and the size of a buffer, in lines,
/// that fills them.
struct SetKind {
  double share = 0;
  double capacity_lines = 0;
};
inline constexpr int set_kinds = 2;
using SetKinds = std::array<SetKind, set_kinds>;

class UnevenLru {
 public:
  using Shares = std::array<double, set_kinds>;  // of a unit's lines, by kind
  using Entry = AtomLru::Entry;

  UnevenLru(size_t entries, const SetKinds& kinds) {
    for (int k = 0; k < set_kinds; ++k) {
      const SetKind& kind = kinds[static_cast<size_t>(k)];
      share_[static_cast<size_t>(k)] = kind.share;
      if (kind.share > 0) {
        caches_.emplace_back(entries, static_cast<int64_t>(kind.capacity_lines * weight_units));
        kind_.push_back(static_cast<size_t>(k));
      }
    }
  }

  /// Makes all `lines` of `entry` the most recent ones; returns the shares that were not held.
  Shares touch(Entry entry, double lines) {
    Shares missing{};
    const auto weight = static_cast<int64_t>(lines * weight_units);
    for (size_t c = 0; c < caches_.size(); ++c) {
      const bool held = caches_[c].touch(entry, weight, false, [](Entry, bool) {});
      if (!held) missing[kind_[c]] = share_[kind_[c]];
    }
    return missing;
  }

  /// Share of the entry's lines that are held.
  double held(Entry entry) const {
    double share = 0;
    for (size_t c = 0; c < caches_.size(); ++c) {
      if (caches_[c].holds(entry)) share += share_[kind_[c]];
    }
    return share;
  }

 private:
  static constexpr double weight_units = 2;  // half lines, for a unit's part in one half

  Shares share_{};
  std::vector<AtomLru> caches_;  // of the kinds that have lines
  std::vector<size_t> kind_;
};

}  // namespace sawtooth::sim
