// All atoms of a problem by number, for engines that go line by line.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// Numbers the atoms of a problem densely, tensor after tensor, head after head, tile after tile. K
/// and V are not pairs.
class AtomTable {
 public:
  explicit AtomTable(const Request& request, KvAtoms kv = KvAtoms::parts) : head_(request, kv) {
    for (int t = 0; t < tensor_count; ++t) {
      const auto tensor = static_cast<Tensor>(t);
      first_[static_cast<size_t>(t)] = std::ssize(sizes_);
      for (int64_t h = 0; h < head_.heads(tensor); ++h) {
        const std::vector<AtomSize>& head = head_.sizes(tensor, h);
        sizes_.insert(sizes_.end(), head.begin(), head.end());
      }
    }
  }

  /// `flat_head` is batch_index * heads_of_the_tensor + head (kv_heads for K and V); with kv_split
  /// partial results have flat_head * kv_split + part, and a piece its number with tile 0.
  AtomId id(Tensor tensor, int64_t flat_head, int64_t tile) const {
    return this->tile(tensor, flat_head, tile).begin;
  }
  /// All atoms of a tile, in the order of its lines; `id` is the first.
  AtomRange tile(Tensor tensor, int64_t flat_head, int64_t tile) const {
    const auto t = static_cast<size_t>(tensor);
    return head_.tile(tensor, static_cast<AtomId>(first_[t] + flat_head * head_.count(tensor)),
                      tile);
  }
  /// These atoms of a tile have their first line in `lines` of the tile.
  AtomRange part(Tensor tensor, int64_t flat_head, int64_t tile, Range lines) const {
    return head_.part(tensor, this->tile(tensor, flat_head, tile), lines);
  }
  Tensor tensor_of(AtomId atom) const { return static_cast<Tensor>(sizes_[atom].tensor); }
  AtomSize size(AtomId atom) const { return sizes_[atom]; }
  const std::vector<AtomSize>& sizes() const { return sizes_; }

  /// Numbers are not given again.
  void ended(Tensor /*q_or_k*/, int64_t /*flat_head*/) const {}

 private:
  HeadAtoms head_;
  std::array<int64_t, tensor_count> first_{};
  std::vector<AtomSize> sizes_;
};

}  // namespace sawtooth::sim
