// The units that the timed wavefront moves: K and V of one tile together (a step always reads both,
// under one barrier), a Q tile, an O tile. Numbered densely, group after group.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

using UnitId = uint32_t;

enum class UnitGroup : uint8_t { kv, q, o, lse, partial_o, partial_lse };
inline constexpr int unit_group_count = 6;

class UnitTable {
 public:
  /// Throws std::invalid_argument as AtomTable does.
  UnitTable(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
            bool log_sum_exp);

  UnitId id(UnitGroup group, int64_t flat_head, int64_t tile) const {
    const Block& block = blocks_[static_cast<size_t>(group)];
    return static_cast<UnitId>(block.first + flat_head * block.tiles + tile);
  }
  AtomSize size(UnitId unit) const { return sizes_[unit]; }
  const std::vector<AtomSize>& sizes() const { return sizes_; }
  UnitGroup group(UnitId unit) const { return groups_[unit]; }
  size_t count() const { return sizes_.size(); }

 private:
  struct Block {
    int64_t first = 0;
    int64_t tiles = 0;
  };
  std::array<Block, unit_group_count> blocks_{};
  std::vector<AtomSize> sizes_;
  std::vector<UnitGroup> groups_;
};

}  // namespace sawtooth::sim
