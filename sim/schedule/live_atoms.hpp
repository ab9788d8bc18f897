// Numbers for the atoms of heads that have items left, for models to which only sizes matter, not
// addresses. When a head's items have ended its tiles are dead: their numbers go to the next head,
// so that tables by atom are as long as the heads in flight need, however many there are.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

class LiveAtoms {
 public:
  /// Throws std::invalid_argument as HeadAtoms does; numbering does so where more than 2^32 - 1
  /// atoms are alive.
  LiveAtoms(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
            bool log_sum_exp);

  /// As AtomTable has them. A number stands for one size and tensor for ever.
  AtomId id(Tensor tensor, int64_t flat_head, int64_t tile) {
    return this->tile(tensor, flat_head, tile).begin;
  }
  AtomRange tile(Tensor tensor, int64_t flat_head, int64_t tile) {
    const auto t = static_cast<size_t>(tensor);
    return head_.tile(tensor, begin_of(kind_of[t], flat_head) + offset_[t], tile);
  }
  AtomRange part(Tensor tensor, int64_t flat_head, int64_t tile, Range lines) {
    return head_.part(this->tile(tensor, flat_head, tile), lines);
  }
  Tensor tensor_of(AtomId atom) const { return static_cast<Tensor>(sizes_[atom].tensor); }
  AtomSize size(AtomId atom) const { return sizes_[atom]; }
  /// Of all numbers so far; grows.
  const std::vector<AtomSize>& sizes() const { return sizes_; }

  /// Nothing will touch Q, O and log-sum-exp (`q_or_k` is Tensor::q), or K and V, of this head.
  void ended(Tensor q_or_k, int64_t flat_head);

  /// Calls forget(AtomRange) for the atoms of heads that have ended since the last call, and gives
  /// their numbers again from now on. All touches before must have been counted.
  template <class Forget>
  void recycle(Forget forget) {
    for (const auto& [kind, begin] : ended_) {
      forget(AtomRange{begin, begin + blocks_[kind].count});
      blocks_[kind].free.push_back(begin);
    }
    ended_.clear();
  }

 private:
  // What lives and dies together: of a query head, of a K/V head, and of a partial result.
  enum Kind : uint8_t { query, key_value, partial, kinds };
  static constexpr std::array<Kind, tensor_count> kind_of{query, key_value, key_value, query,
                                                          query, partial,   partial,   query};

  struct Block {
    AtomId count = 0;          // numbers of a head, one after the other
    std::vector<AtomId> free;  // begins of dead ones
    std::unordered_map<int64_t, AtomId> begin_of_head;
  };
  struct Recent {
    int64_t head = -1;
    AtomId begin = 0;
  };
  static constexpr size_t recents = 256;  // heads found without a look into the map

  AtomId begin_of(Kind kind, int64_t head) {
    Recent& recent = recent_[kind][static_cast<size_t>(head) % recents];
    if (recent.head != head) recent = {head, find(kind, head)};
    return recent.begin;
  }
  AtomId find(Kind kind, int64_t head);

  HeadAtoms head_;
  std::array<AtomId, tensor_count> offset_{};  // of a tensor in its block
  std::array<Block, kinds> blocks_;
  std::array<std::array<Recent, recents>, kinds> recent_;
  std::vector<std::pair<Kind, AtomId>> ended_;
  std::vector<AtomSize> sizes_;
};

}  // namespace sawtooth::sim
