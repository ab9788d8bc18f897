// Numbers for the atoms of heads that have items left, for models to which only sizes matter, not
// addresses, and for those that place a head's tiles anew when it gets its numbers. When a head's
// items have ended its tiles are dead: their numbers go to the next head, so that tables by atom
// are as long as the heads in flight need, however many there are.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

/// The atoms that a head has of one tensor: neighbours in memory, and in both numberings.
struct HeadRun {
  Tensor tensor = Tensor::q;
  int64_t head = 0;
  AtomId begin = 0;    // LiveAtoms's number of the first
  int64_t number = 0;  // AtomTable's
  const std::vector<AtomSize>& sizes;
};

class LiveAtoms {
 public:
  /// Throws std::invalid_argument as HeadAtoms does; numbering does so where more than 2^32 - 1
  /// atoms are alive.
  explicit LiveAtoms(const Request& request, KvAtoms kv = KvAtoms::parts);

  /// As AtomTable has them. A number stands for one size and tensor for ever.
  AtomId id(Tensor tensor, int64_t flat_head, int64_t tile) {
    return this->tile(tensor, flat_head, tile).begin;
  }
  AtomRange tile(Tensor tensor, int64_t flat_head, int64_t tile) {
    const Shift& shift = shift_[static_cast<size_t>(tensor)];
    return tile_in_memory(tensor, flat_head + shift.heads, tile + shift.tiles);
  }
  /// Whatever shift() says.
  AtomRange tile_in_memory(Tensor tensor, int64_t flat_head, int64_t tile) {
    const auto t = static_cast<size_t>(tensor);
    return head_.tile(tensor, begin_of(kind_of[t], flat_head) + offset_[t], tile);
  }
  /// From now on head 0 and tile 0 of `tensor` are those so many further on: of a call over a part
  /// of the rows, or with another buffer of K and V.
  struct Shift {
    int64_t heads = 0;
    int64_t tiles = 0;
  };
  void shift(Tensor tensor, const Shift& shift) { shift_[static_cast<size_t>(tensor)] = shift; }
  AtomRange part(Tensor tensor, int64_t flat_head, int64_t tile, Range lines) {
    return head_.part(tensor, this->tile(tensor, flat_head, tile), lines);
  }
  Tensor tensor_of(AtomId atom) const { return static_cast<Tensor>(sizes_[atom].tensor); }
  AtomSize size(AtomId atom) const { return sizes_[atom]; }
  /// All numbers so far have a size here; the vector grows.
  const std::vector<AtomSize>& sizes() const { return sizes_; }

  /// Nothing will touch Q, O and log-sum-exp (`q_or_k` is Tensor::q), or K and V, of this head.
  void ended(Tensor q_or_k, int64_t flat_head);

  const HeadAtoms& of_head() const { return head_; }
  /// What AtomTable numbers the first atom of a head: the order in memory.
  int64_t number(Tensor tensor, int64_t flat_head) const {
    return number_[static_cast<size_t>(tensor)] + flat_head * head_.count(tensor);
  }

  /// From now on heads that get numbers are kept for take_begun().
  void record_begun() { records_begun_ = true; }
  /// Calls begin(HeadRun) for every tensor of the heads that got numbers since the last call.
  template <class Begin>
  void take_begun(Begin begin) {
    for (const Begun& begun : begun_) {
      for (size_t t = 0; t < kind_of.size(); ++t) {
        const auto tensor = static_cast<Tensor>(t);
        if (kind_of[t] != begun.kind || head_.heads(tensor) == 0) continue;
        begin(HeadRun{tensor, begun.head, begun.begin + offset_[t], number(tensor, begun.head),
                      head_.sizes(tensor, begun.head)});
      }
    }
    begun_.clear();
  }

  /// Calls forget(AtomRange) for the atoms of heads that have ended since the last call, and gives
  /// their numbers again from now on. All touches before must have been counted.
  template <class Forget>
  void recycle(Forget forget) {
    recycle_where([&](AtomRange atoms) {
      forget(atoms);
      return true;
    });
  }

  /// The same where gone(AtomRange) is true; the others are asked about again.
  template <class Gone>
  void recycle_where(Gone gone) {
    std::erase_if(ended_, [&](const auto& ended) {
      Block& block = blocks_[ended.kind];
      if (!gone(AtomRange{ended.begin, ended.begin + block.count})) return false;
      block.free[ended.shape].push_back(ended.begin);
      ended_atoms_ -= block.count;
      return true;
    });
  }
  /// Heads that have ended had so many, with numbers that are not given again so far.
  size_t ended_atoms() const { return ended_atoms_; }

 private:
  // What lives and dies together: of a query head, of a K/V head, and of a partial result.
  enum Kind : uint8_t { query, key_value, partial, kinds };
  static constexpr std::array<Kind, tensor_count> kind_of = [] {
    std::array<Kind, tensor_count> kinds{};
    for (size_t t = 0; t < kinds.size(); ++t) {
      const auto tensor = static_cast<Tensor>(t);
      const bool part = tensor == Tensor::partial_o || tensor == Tensor::partial_lse;
      kinds[t] = part ? partial : has_key_rows(tensor) ? key_value : query;
    }
    return kinds;
  }();

  struct Block {
    AtomId count = 0;                       // numbers of a head, one after the other
    std::vector<std::vector<AtomId>> free;  // begins of dead ones, of heads of each shape
    std::unordered_map<int64_t, AtomId> begin_of_head;
  };
  struct Ended {
    Kind kind = query;
    size_t shape = 0;
    AtomId begin = 0;
  };
  struct Begun {
    Kind kind = query;
    int64_t head = 0;
    AtomId begin = 0;
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
  size_t shape_of(Kind kind, int64_t head) const {
    constexpr std::array<Tensor, kinds> of_kind{Tensor::q, Tensor::k, Tensor::partial_o};
    return head_.shape(of_kind[kind], head);
  }

  HeadAtoms head_;
  std::array<Shift, tensor_count> shift_{};
  std::array<AtomId, tensor_count> offset_{};   // of a tensor in its block
  std::array<int64_t, tensor_count> number_{};  // of a tensor's first head
  std::array<Block, kinds> blocks_;
  std::array<std::array<Recent, recents>, kinds> recent_;
  std::vector<Ended> ended_;
  size_t ended_atoms_ = 0;
  bool records_begun_ = false;
  std::vector<Begun> begun_;
  std::vector<AtomSize> sizes_;
};

}  // namespace sawtooth::sim
